import { sha256Base64 } from '../../lib/node-pure.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import type { GeneratedValues, GeneratorInput } from '../../model/declare/kind.ts';

const prefix = 'nbs_';
/** How many characters behind the prefix distinguish tokens for people. */
const shown = 4;

/** A new token: what is kept of it, and its value, which is shown once. */
export function newToken({ random }: GeneratorInput): GeneratedValues {
  const token = makeToken(prefix, random(tokenRandomBytes));
  const visible = prefix.length + shown;
  return {
    derived: {
      token_hash: sha256Base64(token),
      auth_token: token.slice(0, visible) + '*'.repeat(token.length - visible),
    },
    outputs: { auth_token: token },
  };
}
