import { overrides as operations } from '../../operations/config/overrides.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { writeJson } from '../failure.ts';
import { jsonFlag, textsOf } from '../flags.ts';
import { requireSource } from '../sources/source-names.ts';
import { renderOverrides } from './render.ts';

export const overrideList = defineCommand({
  name: 'override list',
  summary: 'List which stated values are overridden, until when, and why.',
  flags: { source: { placeholder: 'NAME', doc: 'Only overrides of objects that this source states.' }, ...jsonFlag },
  settings: clientSettings,
  examples: [['heddle override list', 'Show the overrides that are still in effect']],
  async run({ flags, config, terminal }) {
    const client = await connect(config);
    const { overrides } = await call(client, operations.list, { query: textsOf(flags, ['source']) });
    const { source } = flags;
    // Throws for an unknown name, which would otherwise have no overrides forever.
    if (overrides.length === 0 && typeof source === 'string') await requireSource(client, source);
    if (flags['json'] === true) writeJson(terminal, { formatVersion: '1.0', overrides });
    else
      terminal.out(overrides.length === 0 ? 'No overrides are running.\n' : renderOverrides(overrides, terminal.paint));
    return exit.ok;
  },
});
