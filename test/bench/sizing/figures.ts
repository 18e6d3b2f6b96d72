import type { DatabaseName, DiskUse } from './storage.ts';

/** Amount that is measured. */
export interface Scale {
  readonly objects: readonly number[];
  readonly peers: readonly number[];
  /** Maximum number of connected peers. Each connection takes a file descriptor of the server. */
  readonly connected: number;
  /** Number of times that each load is run, alternating between the sizes, and the duration of a run. */
  readonly rounds: number;
  readonly milliseconds: number;
  /** Number of records in the log from which the size of one record is computed. */
  readonly records: number;
}

/** Scale for the published figures on how large a server has to be. */
export const fullScale: Scale = {
  ...{ objects: [100, 1000, 10_000], peers: [1000, 5000, 20_000], connected: 10_000 },
  ...{ rounds: 3, milliseconds: 1000, records: 100_000 },
};

/** Small scale, to check that everything is measured. */
export const quickScale: Scale = {
  ...{ objects: [100, 300], peers: [100, 200], connected: 150 },
  ...{ rounds: 1, milliseconds: 300, records: 5000 },
};

/** The memory of a server, in MB. */
export interface Memory {
  /** Maximum during the start with an empty account, and the memory that remains in use before the first request. */
  readonly starting: number;
  readonly empty: number;
  /** Maximum after the start: while all documents were applied, and under load. */
  readonly peak: number;
  /** Memory after a restart, with the account loaded by a first request. */
  readonly loaded: number;
}

/** Figures of an account with this number of objects. Times are in milliseconds, rates per second. */
export interface ObjectFigures {
  readonly objects: number;
  readonly applyMs: number;
  readonly planMs: number;
  readonly writeMs: number;
  readonly writes: number;
  readonly reads: number;
  readonly unchanged: number;
  readonly listMs: number;
  readonly pageMs: number;
  readonly startMs: number;
  readonly memory: Memory;
  /**
   * Disk use when the account is empty, when the objects are applied, when plans are stored too, and when single
   * changes are stored too.
   */
  readonly disk: Readonly<Record<'empty' | 'applied' | 'planned' | 'changed', DiskUse>>;
  /**
   * Number of plans that were made between `applied` and `planned`, and number of changes that were made between
   * `planned` and `changed`.
   */
  readonly plans: number;
  readonly changes: number;
}

/** Figures of an account with this number of peers. Times are in milliseconds, rates per second. */
export interface PeerFigures {
  readonly peers: number;
  readonly enrolments: number;
  /** CPU time of the server for one enrolment, in milliseconds. */
  readonly enrolmentCpu: number;
  readonly writes: number;
  readonly listMs: number;
  readonly startMs: number;
  readonly memory: Memory;
  readonly disk: { readonly empty: DiskUse; readonly enrolled: DiskUse };
  readonly connected: number;
  /** Number of peers that connect per second, each of which receives its map. */
  readonly maps: number;
  readonly connectedMemory: number;
  /** Time from the request that changes a policy until the last affected peer has received the change. */
  readonly changeMs: number;
}

/** Figures of several servers on one Postgres. */
export interface ReplicaFigures {
  readonly servers: number;
  readonly reads: Sum;
  /**
   * `sameAccount`: all writers change the same account. `otherAccounts`: the writers of each server change a different
   * account.
   */
  readonly sameAccount: Sum;
  readonly otherAccounts: Sum;
}

/**
 * Requests per second of all servers together, the longest time of a request, and the CPU time for one request, both in
 * milliseconds.
 */
export interface Sum {
  readonly perSecond: number;
  readonly longest: number;
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

/** Delay until a write on one server is visible on another server, in milliseconds. */
export interface LagFigures {
  readonly reads: number;
  /** Number of reads that did not return the write that was acknowledged before. */
  readonly stale: number;
  /** Time of the read after a write, on the server that wrote, and on another server. */
  readonly sameMs: number;
  readonly otherMs: number;
  /** Time until a reader of events receives the event of the write, at the server that wrote, and at another server. */
  readonly sameEventMs: number;
  readonly otherEventMs: number;
}

/** Disk space of 1,000 changes by table, in MB: with the full history, and after the history was compacted. */
export interface GrowthFigures {
  readonly kept: Readonly<Record<string, number>>;
  readonly folded: Readonly<Record<string, number>>;
  /** Disk space of a million requests that a reverse proxy reported, in MB. */
  readonly million: number;
}

/** Machine on which the figures were measured. `memory` is in GB. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memory: number;
  readonly node: string;
  readonly postgres: string;
  readonly embedded: string;
  readonly heddle: string;
  readonly day: string;
  /** Load average over one minute, before and after the measurement. */
  readonly load: readonly [number, number];
  readonly minutes: number;
}

/** All figures of one run. */
export interface Sizing {
  readonly machine: Machine;
  readonly objects: Readonly<Record<DatabaseName, readonly ObjectFigures[]>>;
  readonly peers: Readonly<Record<DatabaseName, readonly PeerFigures[]>>;
  readonly replicas: readonly ReplicaFigures[];
  readonly lag: LagFigures;
  readonly growth: GrowthFigures;
}
