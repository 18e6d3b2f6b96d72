import { overrides } from '../../operations/config/overrides.ts';
import { kindNamed } from '../account/kind-name.ts';
import { call, clientSettings, connect } from '../client.ts';
import { defineCommand } from '../command.ts';
import { jsonFlag } from '../flags.ts';
import { printOverridden } from './answer.ts';

export const overrideEnd = defineCommand({
  name: 'override end',
  summary: 'End overrides of an object before their time; what documents state applies again at once.',
  argument: {
    placeholder: 'KIND NAME [FIELD...]',
    doc: 'a kind, the key, name or id of one of its objects, and the fields that are to be as stated again (default: all)',
    least: 2,
  },
  flags: jsonFlag,
  settings: clientSettings,
  examples: [['heddle override end Route office', 'Put back what the documents say']],
  async run(invocation) {
    const [kind = '', name = '', ...paths] = invocation.positionals;
    const client = await connect(invocation.config);
    const body = { kind: kindNamed(kind), name, paths };
    return printOverridden(invocation, await call(client, overrides.end, { body }));
  },
});
