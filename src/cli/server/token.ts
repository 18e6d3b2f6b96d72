import { randomBytes } from 'node:crypto';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { defineCommand } from '../command.ts';
import { exit } from '../exit.ts';

/** Prefix of personal access tokens. */
export const tokenPrefix = 'nbp_';

/** Prefix of operator tokens. */
export const operatorTokenPrefix = 'nbo_';

export const token = defineCommand({
  name: 'token new',
  summary: 'Print a fresh, well-formed token.',
  details:
    'Works offline and registers nothing. Give the token to the first start of a server as HEDDLE_BOOTSTRAP_TOKEN; with --operator, give it to every start as HEDDLE_OPERATOR_TOKEN. Keep it secret.',
  flags: { operator: { doc: 'Make a token of the operator of a server instead of a token of a user.' } },
  settings: [],
  examples: [['heddle token new > token && chmod 600 token', 'Make a token for HEDDLE_BOOTSTRAP_TOKEN_FILE']],
  async run({ flags, terminal }) {
    const prefix = flags['operator'] === true ? operatorTokenPrefix : tokenPrefix;
    terminal.out(`${makeToken(prefix, randomBytes(tokenRandomBytes))}\n`);
    return exit.ok;
  },
});
