import { archive } from '../../operations/config/archive.ts';
import { accept, clientSettings, connect, readAnswer, send } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { requireSource } from '../sources/source-names.ts';
import { withProgress } from '../terminal/progress.ts';

export const exportDocuments = defineCommand({
  name: 'export',
  summary: 'Write the account as documents to standard output.',
  details: 'Planning what was exported changes nothing.',
  flags: {
    kind: { placeholder: 'KIND', doc: 'Only documents of this kind.' },
    source: { placeholder: 'NAME', doc: 'Only what this source states.' },
    revision: { placeholder: 'N', doc: 'The account as it was after this revision; `heddle history` lists them.' },
    'mark-adopt': { doc: 'Let every document name its object by id, so that any source can take all of them over.' },
    ...jsonFlag,
  },
  settings: clientSettings,
  examples: [
    ['heddle export > account.yaml', 'Write everything to a file'],
    ['heddle export --kind Policy', 'Show the policies'],
    ['heddle export --mark-adopt > config/all.yaml', 'Bring an account that was made by hand into Git'],
  ],
  async run({ flags, config, terminal }) {
    const json = flags['json'] === true;
    const client = await connect(config);
    const query = {
      ...textsOf(flags, ['kind', 'source', 'revision']),
      format: json ? 'json' : 'yaml',
      ...(flags['mark-adopt'] === true ? { markAdopt: true } : {}),
    };
    const answer = await withProgress(terminal, 'exporting', () => send(client, archive.export, { query }));
    const documents = json ? readAnswer(archive.export, answer) : [];
    const { text } = accept(answer);
    const isEmpty = json ? documents.length === 0 : text === '';
    if (isEmpty && query.source !== undefined) await requireSource(client, query.source);
    if (json) writeJson(terminal, { formatVersion: '1.0', documents });
    else terminal.out(text);
    return exit.ok;
  },
});
