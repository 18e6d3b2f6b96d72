import { accept, clientSettings, connect } from './client.ts';
import { defineCommand } from './command.ts';
import { exit } from './exit.ts';
import { withProgress } from './progress.ts';

export const exportDocuments = defineCommand({
  name: 'export',
  summary: 'Write the account as documents to standard output.',
  details: 'Planning what was exported changes nothing.',
  flags: {
    kind: { placeholder: 'KIND', doc: 'Only documents of this kind.' },
    'mark-adopt': { doc: 'Let every document name its object by id, so that any source can take all of them over.' },
  },
  settings: clientSettings,
  examples: [
    ['heddle export > account.yaml', 'Write everything to a file'],
    ['heddle export --kind Policy', 'Show the policies'],
  ],
  async run({ flags, config, terminal }) {
    const query = new URLSearchParams({ format: 'yaml' });
    const { kind } = flags;
    if (typeof kind === 'string') query.set('kind', kind);
    if (flags['mark-adopt'] === true) query.set('markAdopt', 'true');
    const client = await connect(config);
    const answer = await withProgress(terminal, 'exporting', () => client.get(`/api/config/export?${query}`));
    terminal.out(accept(answer).text);
    return exit.ok;
  },
});
