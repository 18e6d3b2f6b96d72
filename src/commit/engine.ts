import type { KeptValues } from '../db/commit/kept-values.ts';
import type { AccountAccess, Database } from '../db/database.ts';
import type { DnsLookups } from '../lib/net/dns-lookups.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { PlanEnvironment } from '../model/declare/plan-environment.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { PasswordCost } from '../model/password-cost.ts';
import type { Validator } from '../model/schema/validator.ts';
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

/** What every use case needs. Time and ids come in here, so that tests can fix them. */
export interface Engine extends DnsLookups {
  readonly registry: Registry;
  readonly validator: Validator;
  readonly database: Database;
  readonly snapshots: Snapshots;
  /** The states that accounts were in. */
  readonly past: PastStates;
  readonly committer: Committer;
  /** Who reaches whom. */
  readonly access: AccessImages;
  /** ISO 8601, UTC. */
  now(): string;
  /** The same by the database's clock, for what ends at a time on whichever server. */
  time(database: AccountAccess, account: string): Promise<string>;
  newId(): string;
  /** The key for secrets, the edition, randomness. */
  readonly planEnvironment: PlanEnvironment;
  /** The objects that a new account begins with, in the order in which they refer to each other. */
  firstObjects(account: string, owner: Founder): readonly FirstObject[];
  /** Called with every commit of this server, after it is written. */
  readonly listeners: Set<(committed: CommittedRevision) => void>;
  /**
   * Called with the state that follows when the statement on its way to the database is written: time to prepare. It
   * may not be.
   */
  readonly preparers: Set<(base: Snapshot, next: Snapshot) => void>;
  /** Asked before a source deletes. */
  readonly claimRefreshers: Set<ClaimRefresher>;
  /** Hints from all servers on this database. */
  readonly notices: NoticeBoard;
  /** What is observed about peers, beside the revisions. */
  readonly presence: Presence;
  /** What hashing a password costs. */
  readonly passwordCost: PasswordCost;
  /** After how many seconds what a refused push claims is over, unless it is repeated. */
  readonly claimLapse: number;
  /** Receives observations for metrics. */
  readonly observer: Observer;
  /** Begins spans of what this server does by itself, and of requests; absent: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** Called with errors that stop nothing. */
  failed(what: string, error: unknown): void;
}

/** Who owns a new account, with the e-mail domain that is its own; without address and provider it is no person. */
export interface Founder {
  readonly id: string;
  readonly name: string;
  readonly email?: string;
  readonly idp?: string;
  readonly domain?: string;
}

/** Refreshes the claims of other sources, which may claim what one is about to delete. */
export interface ClaimRefresher {
  /** Whether there are any. */
  isConcerned(account: string, deleting: string): boolean;
  /** Lets them record their claims. */
  ask(account: string, deleting: string): Promise<void>;
}

/** A revision that this server made. */
export interface CommittedRevision {
  readonly account: string;
  readonly revision: number;
  readonly actor: Actor;
  readonly plan: Plan;
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** On whose behalf and on which state a use case runs. */
export interface Call {
  readonly account: string;
  readonly actor: Actor;
  /** The caller has seen this revision: what it asks for is decided on it or a later one. */
  readonly revision: number;
  /** Ids of what the request commits: the same ones when the request is repeated. Absent: it cannot be repeated. */
  requestId?(): string;
  /** Seals what the answer shows once, to be kept with what the request writes: a repetition shows it too. Absent as above. */
  sealOnce?(values: ShownOnce): KeptValues;
  /** An earlier attempt at the request may have been carried out after all. */
  readonly isRepeated?: true;
  /** The caller may read and plan, and write nothing. */
  readonly planOnly?: true;
  /** When the caller signed in at this server itself, in milliseconds since 1970; absent for everybody else. */
  readonly signedInAt?: number;
  /** The account of the caller, when the call is about that of a tenant; `actor.granted` is the role there. */
  readonly home?: { readonly account: string; readonly revision: number };
}
