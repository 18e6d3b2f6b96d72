import type { Call, Engine } from '../../commit/engine.ts';
import type { Snapshots } from '../../commit/snapshots.ts';
import { createIdentityLookUp, type Identity, type KnownIdentity, recordLogin } from '../../db/accounts/identities.ts';
import { createTokenLookUp, recordTokenUses, type TokenOwner } from '../../db/accounts/tokens.ts';
import type { Database } from '../../db/database.ts';
import { sha256Base64 } from '../../lib/node-pure.ts';
import { isWellFormedToken } from '../../lib/token.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { NotAllowed, Unauthenticated } from '../../model/errors.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Stored } from '../../model/state/stored.ts';
import { type Claims, createTokenVerifier } from './bearer.ts';
import { groupNames, requireAllowedGroup, syncGroups } from './group-sync.ts';
import type { Issuer } from './issuers.ts';
import { isOperatorToken, operatorTokenPrefix } from './operator.ts';
import { createSignIn } from './sign-in.ts';
import type { TokenCache } from './token-cache.ts';

/** Prefix of personal access tokens. */
export const tokenPrefix = 'nbp_';

/** Returns the hash by which a personal access token is stored. */
export function hashToken(token: string): string {
  return sha256Base64(token);
}

/** Determines the caller of a request. */
export interface Authenticator {
  /**
   * Returns the call of the request's `Authorization` header. `account` is the account that a person without a user
   * asks to join. Throws `Unauthenticated` or `NotAllowed`.
   */
  authenticate(header: string | undefined, account?: string): Promise<Call>;
  /**
   * Returns the call of a header with a personal access token that an earlier request looked up, without asking the
   * database. It has a `cachedToken`, whose `requireAllowed` checks the token's user and calls the given function.
   * Returns `undefined` when the token must be looked up.
   */
  authenticateFromCache(
    header: string | undefined,
    requireAllowed: (call: Call, state: Snapshot) => void,
  ): Promise<Call | undefined>;
  /** Whether a call is the operator's. */
  isOperator(header: string | undefined): boolean;
  /**
   * Throws unless the call is the operator's. A call of the operator belongs to no account. All other callers are
   * refused, owners too.
   */
  requireOperator(header: string | undefined): Promise<void>;
}

export interface AuthenticatorOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  /** Milliseconds since 1970. */
  now(): number;
  readonly tokenUses?: TokenUses;
  /** Absent: every token is looked up. */
  readonly tokenCache?: TokenCache;
  /** Authenticates people by signed tokens. Absent: there is no identity provider. */
  readonly personAuthenticator?: PersonAuthenticator;
  /** Token of the operator. Absent: every call of the operator is refused. */
  readonly operatorToken?: string | undefined;
}

/**
 * Creates an authenticator for personal access tokens, with one query that also reads the account's revision, and for
 * signed tokens of people.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { database, snapshots, now, tokenUses, tokenCache, personAuthenticator, operatorToken } = options;
  const find = createTokenLookUp(database);
  const callOfToken = (owner: TokenOwner, state: Snapshot): Call => {
    if (owner.expiresAt <= now()) throw new Unauthenticated('token expired');
    const user = state.find('User', owner.user);
    if (user === undefined) throw new Unauthenticated('token invalid');
    requireActive(user);
    return {
      account: owner.account,
      revision: owner.revision,
      actor: actorOf(user),
      ...(owner.planOnly ? { planOnly: true } : {}),
    };
  };
  const authenticator: Authenticator = {
    async authenticate(header, account) {
      const { scheme, token } = credentialsOf(header);
      if (token.startsWith(operatorTokenPrefix)) throw new Unauthenticated(notInAccount);
      if (scheme === 'bearer' && personAuthenticator !== undefined && !token.startsWith(tokenPrefix))
        return personAuthenticator.authenticate(token, account);
      // A mistyped token is refused without a look-up.
      if (!isWellFormedToken(tokenPrefix, token)) throw new Unauthenticated('token invalid');
      const hash = hashToken(token);
      const owner = await find(hash);
      if (owner === undefined) {
        tokenCache?.remove(hash);
        throw new Unauthenticated('token invalid');
      }
      const call = callOfToken(owner, await snapshots.atLeast(owner.account, owner.revision));
      tokenCache?.add(hash, owner);
      tokenUses?.record(owner.account, owner.token);
      return call;
    },
    async authenticateFromCache(header, requireAllowed) {
      const { token } = credentialsOf(header);
      if (tokenCache === undefined || !token.startsWith(tokenPrefix)) return undefined;
      const hash = hashToken(token);
      const owner = tokenCache.find(hash);
      if (owner === undefined || owner.planOnly) return undefined;
      const check = (state: Snapshot): Call => {
        const call = callOfToken(owner, state);
        requireAllowed(call, state);
        return call;
      };
      try {
        const call = check(await snapshots.atLeast(owner.account, owner.revision));
        tokenUses?.record(owner.account, owner.token);
        return {
          ...call,
          cachedToken: {
            ...{ id: owner.token, hash, requireAllowed: (state) => void check(state) },
            onLookUp: () => tokenCache.pause(hash),
          },
        };
      } catch {
        // The look-up finds the reason, or shows that the state was outdated.
        return undefined;
      }
    },
    isOperator: (header) => header !== undefined && isOperatorToken(operatorToken, credentialsOf(header).token),
    async requireOperator(header) {
      const { token } = credentialsOf(header);
      if (authenticator.isOperator(header)) return;
      if (token.startsWith(operatorTokenPrefix)) throw new Unauthenticated('token invalid');
      // An unknown caller is refused with `Unauthenticated` first.
      await authenticator.authenticate(header);
      throw new NotAllowed(operatorOnly);
    },
  };
  return authenticator;
}

const notInAccount =
  "this is the operator's token, which is for the server itself and not valid in any account; use a token of a user";

const operatorOnly =
  "this concerns the whole server and is for its operator only; send the operator's token, which is in the file operator-token of the data directory or in HEDDLE_OPERATOR_TOKEN";

function credentialsOf(header: string | undefined): { readonly scheme: string; readonly token: string } {
  const [word = '', ...rest] = (header ?? '').trim().split(/\s+/);
  const scheme = word.toLowerCase();
  if (!['token', 'bearer'].includes(scheme)) throw new Unauthenticated('no valid authentication provided');
  const [token = ''] = rest;
  if (token === '' || rest.length > 1) throw new Unauthenticated('token invalid');
  return { scheme, token };
}

/** Determines the caller of a request with a signed token. */
export interface PersonAuthenticator {
  /**
   * Returns the call of a token. `account` is the account that an unknown person asks to join. Throws
   * `Unauthenticated`, `NotAllowed`, or `Unavailable` when the issuer does not answer.
   */
  authenticate(token: string, account?: string): Promise<Call>;
}

export interface PersonAuthenticatorOptions {
  readonly engine: Engine;
  readonly issuers: readonly Issuer[];
  /** Whether all new people join the only account of this server. */
  readonly singleAccount: boolean;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Authenticates people by signed tokens, with one query. An unknown person becomes a user. */
export function createPersonAuthenticator({
  engine,
  issuers,
  singleAccount,
  now,
}: PersonAuthenticatorOptions): PersonAuthenticator {
  const bearer = createTokenVerifier({ issuers, now });
  const find = createIdentityLookUp(engine.database);
  const enter = createSignIn({ engine, singleAccount, findIdentity: find });
  return {
    async authenticate(token, account) {
      const claims = await bearer.verify(token);
      const known = (await find(identityOf(claims))) ?? (await enter(claims, token, account));
      const state = await engine.snapshots.atLeast(known.account, known.revision);
      const user = state.find('User', known.user);
      if (user === undefined) throw new Unauthenticated('token invalid');
      requireActive(user);
      requireAllowedGroup(state, claims);
      const call = callOf(known, user, claims);
      if ((known.lastLogin?.getTime() ?? Number.NEGATIVE_INFINITY) < claims.signedInAt)
        await auditLogin(engine, claims, call);
      return await syncGroups(engine, call, state, claims);
    },
  };
}

function identityOf({ issuer, subject, account, grant }: Claims): Identity {
  const embedded = issuer.kind === 'embedded';
  return {
    ...{ issuer: issuer.issuer, subject, embedded },
    ...(account === undefined ? {} : { account }),
    ...(grant === undefined ? {} : { grant }),
  };
}

/** Throws `NotAllowed` for users who are blocked or wait for approval. The messages are those that clients look for. */
function requireActive({ spec, derived }: Stored<'User'>): void {
  if (derived.pending_approval === true) throw new NotAllowed('user is pending approval');
  if (spec.is_blocked === true) throw new NotAllowed('user is blocked');
}

function callOf({ account, revision }: KnownIdentity, user: Stored<'User'>, claims: Claims): Call {
  const actor = actorOf(user);
  if (claims.issuer.kind === 'embedded') return { account, revision, actor, signedInAt: claims.signedInAt };
  const tokenLists = (claim: string) => groupNames(claims, claim);
  // The property is not enumerable, so that it is left out wherever an actor is serialized.
  return { account, revision, actor: Object.defineProperty({ ...actor }, 'tokenLists', { value: tokenLists }) };
}

/** Returns a user as an actor. */
function actorOf({ id, name, spec }: Stored<'User'>): Call['actor'] {
  const email = spec.email ? { email: spec.email } : {};
  return { type: 'user', id, name, ...email };
}

async function auditLogin(engine: Engine, { issuer, subject, signedInAt }: Claims, call: Call): Promise<void> {
  const at = new Date(signedInAt).toISOString();
  const login = { account: call.account, issuer: issuer.issuer, subject, user: call.actor.id, at };
  const event: AuditEvent = { code: 'dashboard.login', target: call.actor.id, meta: { timestamp: at } };
  await recordLogin(engine.database, login, { actor: call.actor, event, at: engine.now() });
}

/** Records when tokens are used, without a write for each request. */
export interface TokenUses {
  record(account: string, token: string): void;
  /** Writes the recorded uses and stops. */
  close(): Promise<void>;
}

export interface TokenUsesOptions {
  /** Milliseconds since 1970. */
  now(): number;
  /** How long a stored time is recent enough not to be written again, in milliseconds. */
  readonly freshMs?: number;
  /** How long uses are collected before they are written together, in milliseconds. */
  readonly gatherMs?: number;
}

/**
 * Creates the record of token uses. The use of a token is written once a minute at most, and its first use within a
 * second.
 */
export function createTokenUses(database: Database, options: TokenUsesOptions): TokenUses {
  const { now, freshMs = 60_000, gatherMs = 1000 } = options;
  const written = new Map<string, number>();
  let pending = new Map<string, Map<string, number>>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    timer = undefined;
    const uses = pending;
    pending = new Map();
    writing = writing.then(() => write(database, uses));
    return writing;
  };

  return {
    record(account, token) {
      const at = now();
      if (at - (written.get(token) ?? Number.NEGATIVE_INFINITY) < freshMs) return;
      // Deletes all entries when there are very many, so that tokens which are no longer used do not accumulate.
      if (written.size > 100_000) written.clear();
      written.set(token, at);
      const uses = pending.get(account) ?? new Map<string, number>();
      pending.set(account, uses.set(token, at));
      if (timer !== undefined) return;
      timer = setTimeout(() => void flush(), gatherMs);
      timer.unref();
    },
    close() {
      clearTimeout(timer);
      return flush();
    },
  };
}

/** Writes the times of last use. While the database is unavailable, they are lost. */
async function write(database: Database, uses: ReadonlyMap<string, ReadonlyMap<string, number>>): Promise<void> {
  for (const [account, tokens] of uses) {
    const rows = [...tokens].map(([token, at]) => ({ token, at: new Date(at).toISOString() }));
    await recordTokenUses(database, account, rows).catch(() => undefined);
  }
}
