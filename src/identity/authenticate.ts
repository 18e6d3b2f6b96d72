import type { Call } from '../engine/engine.ts';
import type { Snapshots } from '../engine/snapshots.ts';
import { sha256Base64 } from '../lib/node-pure.ts';
import { isWellFormedToken } from '../lib/token.ts';
import { NotAllowed, Unauthenticated } from '../model/errors.ts';
import type { Database } from '../store/database.ts';
import { createTokenLookUp } from '../store/tokens.ts';
import type { TokenUses } from './token-uses.ts';

/** The prefix of personal access tokens. */
export const tokenPrefix = 'nbp_';

/** How a personal access token is stored. */
export function hashToken(token: string): string {
  return sha256Base64(token);
}

/** Says on whose behalf a request runs, or throws `Unauthenticated` or `NotAllowed`. */
export interface Authenticator {
  authenticate(header: string | undefined): Promise<Call>;
}

/** Authenticates personal access tokens, in one query that also reads the account's revision. */
export function createAuthenticator(
  database: Database,
  snapshots: Snapshots,
  now: () => number,
  uses?: TokenUses,
): Authenticator {
  const find = createTokenLookUp(database);
  return {
    async authenticate(header) {
      const token = tokenOf(header);
      // A typo costs no look-up.
      if (!isWellFormedToken(tokenPrefix, token)) throw new Unauthenticated('token invalid');
      const owner = await find(hashToken(token));
      if (owner === undefined) throw new Unauthenticated('token invalid');
      if (owner.expires.getTime() <= now()) throw new Unauthenticated('token expired');
      const state = await snapshots.at(owner.account, owner.revision);
      const user = state.get(owner.user);
      if (user === undefined) throw new Unauthenticated('token invalid');
      if (user.spec['is_blocked'] === true) throw new NotAllowed('user is blocked');
      uses?.note(owner.account, owner.token);
      const email =
        typeof user.spec['email'] === 'string' && user.spec['email'] !== '' ? { email: user.spec['email'] } : {};
      return {
        account: owner.account,
        revision: owner.revision,
        actor: { type: 'user', id: user.id, name: user.name, ...email },
        ...(owner.planOnly ? { planOnly: true } : {}),
      };
    },
  };
}

function tokenOf(header: string | undefined): string {
  const [scheme = '', ...rest] = (header ?? '').trim().split(/\s+/);
  if (!['token', 'bearer'].includes(scheme.toLowerCase()))
    throw new Unauthenticated('no valid authentication provided');
  const [token = ''] = rest;
  if (token === '' || rest.length > 1) throw new Unauthenticated('token invalid');
  return token;
}
