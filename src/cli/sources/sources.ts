import { clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag } from '../flags.ts';
import { renderSource, renderSourceTable } from '../render/sources.ts';
import { readSources, requireSource } from './source-names.ts';

export const sources = defineCommand({
  name: 'sources',
  summary: 'Show the sources of the account with their state, or all details of one source.',
  argument: {
    placeholder: '[NAME]',
    doc: 'a source, to show its conditions, settings and latest attempts',
    least: 0,
    most: 1,
  },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [
    ['heddle sources', 'One line per source, with its problems'],
    ['heddle sources office', 'Everything about one source'],
  ],
  async run({ flags, positionals: [name], config, terminal }) {
    const client = await connect(config);
    const json = flags['json'] === true;
    if (name === undefined) {
      const found = await readSources(client);
      if (json) writeJson(terminal, { formatVersion: '1.0', sources: found });
      else terminal.out(`${renderSourceTable(found, terminal.paint).join('\n')}\n`);
      return exit.ok;
    }
    const source = await requireSource(client, name);
    if (json) writeJson(terminal, { formatVersion: '1.0', source });
    else terminal.out(renderSource(source, terminal.paint));
    return exit.ok;
  },
});
