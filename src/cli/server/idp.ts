import { printable } from '../../lib/text/printable.ts';
import { status as operations } from '../../operations/config/status.ts';
import { call } from '../client.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';
import { connectAsOperator, operatorSettings } from '../operator/client.ts';

export const idpRotateKeys = defineCommand({
  name: 'idp rotate-keys',
  summary: 'Replace the signing key of the identity provider of a server immediately.',
  details:
    'Servers replace the key automatically every HEDDLE_IDP_KEY_ROTATION days. Users are not affected: tokens that the previous key signed stay valid until they expire.',
  flags: {},
  settings: operatorSettings,
  examples: [['heddle idp rotate-keys', 'Replace a key that may have leaked']],
  async run({ config, terminal }) {
    const client = await connectAsOperator(config);
    const { key } = await call(client, operations.rotateIdpKeys);
    terminal.out(`Tokens are signed with the key ${printable(key)} from now on.\n`);
    return exit.ok;
  },
});
