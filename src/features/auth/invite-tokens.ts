import type { Engine } from '../../commit/engine.ts';
import { isWellFormedToken, makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { hashToken } from './authenticate.ts';

const prefix = 'nbi_';

/** A new invite token with the hash by which it is stored. */
export function newInviteToken({ planEnvironment }: Pick<Engine, 'planEnvironment'>): {
  readonly token: string;
  readonly hash: string;
} {
  const token = makeToken(prefix, planEnvironment.random(tokenRandomBytes));
  return { token, hash: hashToken(token) };
}

/** The hash of a token, `undefined` when the text cannot be one: a typo costs no look-up. */
export function inviteHash(token: string): string | undefined {
  return isWellFormedToken(prefix, token) ? hashToken(token) : undefined;
}
