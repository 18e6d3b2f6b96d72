import { overrides } from '../../operations/config/overrides.ts';
import { kindNamed } from '../account/kind-name.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { jsonFlag } from '../flags.ts';
import { printOverridden } from './answer.ts';

export const overrideEnd = defineCommand({
  name: 'override end',
  summary: 'End overrides of an object early; the values that documents state apply again at once.',
  argument: {
    placeholder: 'KIND NAME [FIELD...]',
    doc: 'a kind, the key, name or id of one of its objects, and the fields that get their stated values back (default: all)',
    least: 2,
  },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle override end Route office', 'Restore the values that the documents state']],
  async run(invocation) {
    const [kind = '', name = '', ...paths] = invocation.positionals;
    const client = await connect(invocation.config);
    const body = { kind: kindNamed(kind), name, paths };
    return printOverridden(invocation, await call(client, overrides.end, { body }));
  },
});
