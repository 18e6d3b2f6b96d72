import type { Call } from '../../commit/engine.ts';
import type { Snapshots } from '../../commit/snapshots.ts';
import { createTokenLookUp } from '../../db/accounts/tokens.ts';
import type { Database } from '../../db/database.ts';
import { sha256Base64 } from '../../lib/node-pure.ts';
import { isWellFormedToken } from '../../lib/token.ts';
import { NotAllowed, Unauthenticated } from '../../model/errors.ts';
import { isOperatorToken, operatorTokenPrefix } from './operator.ts';
import { actorOf, type People, requireActive } from './people.ts';
import type { TokenUses } from './token-uses.ts';

/** The prefix of personal access tokens. */
export const tokenPrefix = 'nbp_';

/** How a personal access token is stored. */
export function hashToken(token: string): string {
  return sha256Base64(token);
}

/** Says on whose behalf a request runs, or throws `Unauthenticated` or `NotAllowed`. */
export interface Authenticator {
  /** `account`: the one that a person without a user asks to join. */
  authenticate(header: string | undefined, account?: string): Promise<Call>;
  /** Whether a call is the operator's. */
  isOperator(header: string | undefined): boolean;
  /** Lets a call of the operator pass, which is in no account; everybody else is refused, owners too. */
  requireOperator(header: string | undefined): Promise<void>;
}

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  /** Milliseconds since 1970. */
  now(): number;
  readonly uses?: TokenUses;
  /** Knows people by signed tokens; absent: there is no identity provider. */
  readonly people?: People;
  /** The token of the operator; absent: calls of the operator are closed. */
  readonly operatorToken?: string | undefined;
}

/** Authenticates personal access tokens, in one query that also reads the account's revision, and signed tokens of people. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { database, snapshots, now, uses, people, operatorToken } = options;
  const find = createTokenLookUp(database);
  const authenticator: Authenticator = {
    async authenticate(header, account) {
      const { scheme, token } = credentialsOf(header);
      if (token.startsWith(operatorTokenPrefix)) throw new Unauthenticated(notInAccount);
      if (scheme === 'bearer' && people !== undefined && !token.startsWith(tokenPrefix))
        return people.authenticate(token, account);
      // A typo costs no look-up.
      if (!isWellFormedToken(tokenPrefix, token)) throw new Unauthenticated('token invalid');
      const owner = await find(hashToken(token));
      if (owner === undefined) throw new Unauthenticated('token invalid');
      if (owner.expires.getTime() <= now()) throw new Unauthenticated('token expired');
      const state = await snapshots.at(owner.account, owner.revision);
      const user = state.find('User', owner.user);
      if (user === undefined) throw new Unauthenticated('token invalid');
      requireActive(user);
      uses?.note(owner.account, owner.token);
      return {
        account: owner.account,
        revision: owner.revision,
        actor: actorOf(user),
        ...(owner.planOnly ? { planOnly: true } : {}),
      };
    },
    isOperator: (header) => header !== undefined && isOperatorToken(operatorToken, credentialsOf(header).token),
    async requireOperator(header) {
      const { token } = credentialsOf(header);
      if (authenticator.isOperator(header)) return;
      if (token.startsWith(operatorTokenPrefix)) throw new Unauthenticated('token invalid');
      // An unknown caller is refused with that reason first.
      await authenticator.authenticate(header);
      throw new NotAllowed(operatorOnly);
    },
  };
  return authenticator;
}

const notInAccount =
  "this is the operator's token, which is for the server itself and opens no account; use a token of a user";

const operatorOnly =
  "this is about the whole server, and for its operator alone; send the operator's token, which is in the file operator-token of the data directory or in HEDDLE_OPERATOR_TOKEN";

function credentialsOf(header: string | undefined): { readonly scheme: string; readonly token: string } {
  const [word = '', ...rest] = (header ?? '').trim().split(/\s+/);
  const scheme = word.toLowerCase();
  if (!['token', 'bearer'].includes(scheme)) throw new Unauthenticated('no valid authentication provided');
  const [token = ''] = rest;
  if (token === '' || rest.length > 1) throw new Unauthenticated('token invalid');
  return { scheme, token };
}
