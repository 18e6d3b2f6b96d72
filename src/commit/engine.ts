import type { CallerToken } from '../db/accounts/tokens.ts';
import type { KeptValues } from '../db/commit/kept-values.ts';
import type { AccountAccess, Database } from '../db/database.ts';
import type { DnsLookups } from '../lib/net/dns-lookups.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { PlanEnvironment } from '../model/declare/plan-environment.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { PasswordCost } from '../model/password-cost.ts';
import type { Validator } from '../model/schema/validation/validator.ts';
import type { Snapshot } from '../model/state/snapshot.ts';
import type { Plan } from '../plan/plan.ts';
import type { Tracer } from '../telemetry/span.ts';
import type { AccessImages } from './access-images.ts';
import type { FirstObject } from './bootstrap.ts';
import type { Committer } from './commit.ts';
import type { NoticeBoard } from './notices.ts';
import type { Observer } from './observe.ts';
import type { PastStates } from './past-states.ts';
import type { Presence } from './presence.ts';
import type { ShownOnce } from './shown-once.ts';
import type { Snapshots } from './snapshots.ts';

/** Dependencies of every use case. Time and ids are among them, so that tests can fix them. */
export interface Engine extends DnsLookups {
  readonly registry: Registry;
  readonly validator: Validator;
  readonly database: Database;
  readonly snapshots: Snapshots;
  /** Past states of accounts. */
  readonly pastStates: PastStates;
  readonly committer: Committer;
  /** Which peer reaches which. */
  readonly access: AccessImages;
  /** Returns the time of this server, in ISO 8601, UTC. */
  now(): string;
  /** Returns the time of the database in ISO 8601, for expiry times that must be the same on every server. */
  databaseTime(database: AccountAccess, account: string): Promise<string>;
  newId(): string;
  /** Key for secrets, edition and randomness. */
  readonly planEnvironment: PlanEnvironment;
  /** Returns the first objects of a new account, in the order of their references. */
  firstObjects(account: string, owner: Founder): readonly FirstObject[];
  /** Called with every commit of this server, after it is written. */
  readonly listeners: Set<(committed: CommittedRevision) => void>;
  /**
   * Called with the state that follows if the statement that was just sent is written, to prepare for it. That is not
   * certain.
   */
  readonly preparers: Set<(base: Snapshot, next: Snapshot) => void>;
  /** Called before a source deletes objects. */
  readonly claimRefreshers: Set<ClaimRefresher>;
  /** Notices from all servers on this database. */
  readonly notices: NoticeBoard;
  /** Observations about peers, stored apart from the revisions. */
  readonly presence: Presence;
  /** Cost of hashing a password. */
  readonly passwordCost: PasswordCost;
  /** Seconds after which the claims of a refused push expire, unless the push is repeated. */
  readonly claimLapseSeconds: number;
  /** Receives observations for metrics. */
  readonly observer: Observer;
  /** Starts spans of requests, and of work that the server does by itself. Absent: no tracing. */
  readonly tracer?: Tracer | undefined;
  /** Called with errors that do not stop the server. */
  reportFailure(what: string, error: unknown): void;
}

/**
 * Owner of a new account, with the e-mail domain that belongs to the account. Without `email` and `idp`, the owner is
 * not a person.
 */
export interface Founder {
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  readonly idp?: string;
  readonly domain?: string;
}

/** Refreshes the claims of other sources, because they may claim objects that a source is about to delete. */
export interface ClaimRefresher {
  /** Returns whether there are other sources to ask. `deleting` is the source that deletes. */
  isConcerned(account: string, deleting: string): boolean;
  /** Waits until the other sources have recorded their claims. */
  refresh(account: string, deleting: string): Promise<void>;
}

/** A revision that this server committed. */
export interface CommittedRevision {
  readonly account: string;
  readonly revision: number;
  readonly actor: Actor;
  readonly plan: Plan;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** A token that was looked up for an earlier request. */
export interface CachedToken extends CallerToken {
  /** Throws `Unauthenticated` or `NotAllowed` unless the token's user may make the request in this state. */
  requireAllowed(state: Snapshot): void;
  /** Called when the token is looked up after all, because nothing was written. */
  onLookUp(): void;
}

/** The caller of a use case, and the state on which it runs. */
export interface Call {
  readonly account: string;
  readonly actor: Actor;
  /** Revision that the caller has seen. The use case decides on this revision or a later one. */
  readonly revision: number;
  /**
   * Returns the id of the next commit of the request. A repeated request gets the same ids. Absent: the request cannot
   * be repeated.
   */
  requestId?(): string;
  /**
   * Seals the values that the answer shows once. They are stored with the write, so that a repeated request shows them
   * too. Absent: the request cannot be repeated.
   */
  sealOnce?(values: ShownOnce): KeptValues;
  /** An earlier attempt at the request may have been carried out. */
  readonly isRepeated?: true;
  /** The caller may read and plan, and not write. */
  readonly planOnly?: true;
  /**
   * Token of the caller that was taken from memory and not looked up in the database. Every commit checks that it still
   * exists; before any other answer it must be looked up. Absent: the caller is authenticated.
   */
  readonly cachedToken?: CachedToken;
  /** Time at which the caller signed in at this server, in milliseconds since 1970. Absent for callers that did not. */
  readonly signedInAt?: number;
  /**
   * Account of the caller, when the call is about the account of a tenant. `actor.granted` is the caller's role in the
   * tenant.
   */
  readonly home?: { readonly account: string; readonly revision: number };
}
