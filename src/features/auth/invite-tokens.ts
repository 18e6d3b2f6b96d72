import type { Engine } from '../../commit/engine.ts';
import { isWellFormedToken, makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { hashToken } from './authenticate.ts';

const prefix = 'nbi_';

/** Creates an invite token, and the hash by which it is stored. */
export function newInviteToken({ planEnvironment }: Pick<Engine, 'planEnvironment'>): {
  readonly token: string;
  readonly hash: string;
} {
  const token = makeToken(prefix, planEnvironment.random(tokenRandomBytes));
  return { token, hash: hashToken(token) };
}

/**
 * Returns the hash of a token; `undefined` when the text cannot be an invite token, so that a mistyped token is refused
 * without a look-up.
 */
export function inviteHash(token: string): string | undefined {
  return isWellFormedToken(prefix, token) ? hashToken(token) : undefined;
}
