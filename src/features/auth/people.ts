import type { Call, Engine } from '../../commit/engine.ts';
import { createIdentityLookUp, type Identity, type KnownIdentity, noteLogin } from '../../db/accounts/identities.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';
import { NotAllowed, Unauthenticated } from '../../model/errors.ts';
import type { Stored } from '../../model/state/stored.ts';
import { type Claims, createBearer } from './bearer.ts';
import { groupNames, requireAllowed, syncGroups } from './group-sync.ts';
import type { Issuer } from './issuers.ts';
import { createSignIn } from './sign-in.ts';

/** Says on whose behalf a request with a signed token runs. */
export interface People {
  /**
   * `account`: the one that an unknown person asks to join. Throws `Unauthenticated`, `NotAllowed`, or
   * `Unavailable` when the issuer does not answer.
   */
  authenticate(token: string, account?: string): Promise<Call>;
}

export interface PeopleOptions {
  readonly engine: Engine;
  readonly issuers: readonly Issuer[];
  /** Everybody who is new joins the one account of this server. */
  readonly singleAccount: boolean;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Knows people by signed tokens, in one query; who is unknown becomes a user. */
export function createPeople({ engine, issuers, singleAccount, now }: PeopleOptions): People {
  const bearer = createBearer({ issuers, now });
  const find = createIdentityLookUp(engine.database);
  const enter = createSignIn({ engine, singleAccount, find });
  return {
    async authenticate(token, account) {
      const claims = await bearer.verify(token);
      const known = (await find(identityOf(claims))) ?? (await enter(claims, token, account));
      const state = await engine.snapshots.at(known.account, known.revision);
      const user = state.find('User', known.user);
      if (user === undefined) throw new Unauthenticated('token invalid');
      requireActive(user);
      requireAllowed(state, claims);
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

/** Throws `NotAllowed` for users who are kept out, in the words that clients look for. */
export function requireActive({ spec, derived }: Stored<'User'>): void {
  if (derived.pending_approval === true) throw new NotAllowed('user is pending approval');
  if (spec.is_blocked === true) throw new NotAllowed('user is blocked');
}

function callOf({ account, revision }: KnownIdentity, user: Stored<'User'>, claims: Claims): Call {
  const actor = actorOf(user);
  if (claims.issuer.kind === 'embedded') return { account, revision, actor, signedInAt: claims.signedInAt };
  const tokenLists = (claim: string) => groupNames(claims, claim);
  // It is not enumerable, so that it stays out wherever an actor is written down.
  return { account, revision, actor: Object.defineProperty({ ...actor }, 'tokenLists', { value: tokenLists }) };
}

/** A user as the one on whose behalf something happens. */
export function actorOf({ id, name, spec }: Stored<'User'>): Call['actor'] {
  const email = spec.email ? { email: spec.email } : {};
  return { type: 'user', id, name, ...email };
}

async function auditLogin(engine: Engine, { issuer, subject, signedInAt }: Claims, call: Call): Promise<void> {
  const at = new Date(signedInAt).toISOString();
  const login = { account: call.account, issuer: issuer.issuer, subject, user: call.actor.id, at };
  const event: AuditEvent = { code: 'dashboard.login', target: call.actor.id, meta: { timestamp: at } };
  await noteLogin(engine.database, login, { actor: call.actor, event, at: engine.now() });
}
