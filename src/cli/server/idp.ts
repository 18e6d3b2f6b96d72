import { status as operations } from '../../operations/config/status.ts';
import { call } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { connectAsOperator, operatorSettings } from '../operator/client.ts';
import { printable } from '../terminal/paint.ts';

export const idpRotateKeys = defineCommand({
  name: 'idp rotate-keys',
  summary: 'Let the identity provider of a server sign with a new key at once.',
  details:
    'Servers do so by themselves every HEDDLE_IDP_KEY_ROTATION days. Nobody notices: what the key before signed stays good until it ends.',
  flags: {},
  settings: operatorSettings,
  examples: [['heddle idp rotate-keys', 'Follow a key that somebody may have seen']],
  async run({ config, terminal }) {
    const client = await connectAsOperator(config);
    const { key } = await call(client, operations.rotateIdpKeys);
    terminal.out(`Tokens are signed with the key ${printable(key)} from now on.\n`);
    return exit.ok;
  },
});
