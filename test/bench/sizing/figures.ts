import type { DatabaseName, DiskUse } from './storage.ts';

/** How much is measured. */
export interface Scale {
  readonly objects: readonly number[];
  readonly peers: readonly number[];
  /** How many of the peers are connected at the most: each takes a descriptor of the server. */
  readonly connected: number;
  /** How often each load is repeated, the sizes in turns, and for how long. */
  readonly rounds: number;
  readonly milliseconds: number;
  /** How many records the log has by which the size of one is measured. */
  readonly records: number;
}

/** What everybody means who asks how large a server has to be. */
export const fullScale: Scale = {
  ...{ objects: [100, 1000, 10_000], peers: [1000, 5000, 20_000], connected: 10_000 },
  ...{ rounds: 3, milliseconds: 1000, records: 100_000 },
};

/** Enough to see whether everything is measured. */
export const quickScale: Scale = {
  ...{ objects: [100, 300], peers: [100, 200], connected: 150 },
  ...{ rounds: 1, milliseconds: 300, records: 5000 },
};

/** The memory of a server, in MB. */
export interface Memory {
  /** The most during the start on an empty account, and what is left of that before anything is asked. */
  readonly starting: number;
  readonly empty: number;
  /** The most from then on: while everything was applied, and under load. */
  readonly peak: number;
  /** Started again, with the account loaded by a first request. */
  readonly loaded: number;
}

/** An account of so many objects. Times are in milliseconds, rates per second. */
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
  /** Empty, with the objects, with the stored plans too, and with single changes too. */
  readonly disk: Readonly<Record<'empty' | 'applied' | 'planned' | 'changed', DiskUse>>;
  /** How many plans were made between `applied` and `planned`, and how many changes between that and `changed`. */
  readonly plans: number;
  readonly changes: number;
}

/** An account of so many peers. */
export interface PeerFigures {
  readonly peers: number;
  readonly enrolments: number;
  /** Processor time of the server for one enrolment, in milliseconds. */
  readonly enrolmentCpu: number;
  readonly writes: number;
  readonly listMs: number;
  readonly startMs: number;
  readonly memory: Memory;
  readonly disk: { readonly empty: DiskUse; readonly enrolled: DiskUse };
  readonly connected: number;
  /** How many of them are connected in a second, each with its map. */
  readonly maps: number;
  readonly connectedMemory: number;
  /** From the request that changes a policy to the last of the peers that it concerns. */
  readonly changeMs: number;
}

/** So many servers on one Postgres. */
export interface ReplicaFigures {
  readonly servers: number;
  readonly reads: Sum;
  /** All writers change the same account, or each server has writers of another one. */
  readonly sameAccount: Sum;
  readonly otherAccounts: Sum;
}

/** What all servers did together in a second, the longest time of a request, and the processor time of one, in milliseconds. */
export interface Sum {
  readonly perSecond: number;
  readonly longest: number;
  readonly serverCpu: number;
  readonly postgresCpu: number;
}

/** From a write on one server to another one, in milliseconds. */
export interface LagFigures {
  readonly reads: number;
  /** Reads on the other server that did not have the write that was acknowledged before. */
  readonly stale: number;
  /** The read that follows a write, on the server that wrote, and on another one. */
  readonly sameMs: number;
  readonly otherMs: number;
  /** Until a reader of events at the server that wrote, and at another one, has the event of the write. */
  readonly sameEventMs: number;
  readonly otherEventMs: number;
}

/** What 1,000 changes leave, by table, in MB: as they are kept, and when their history is folded. */
export interface GrowthFigures {
  readonly kept: Readonly<Record<string, number>>;
  readonly folded: Readonly<Record<string, number>>;
  /** A million requests that a reverse proxy reported. */
  readonly million: number;
}

/** Where it was measured. */
export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memory: number;
  readonly node: string;
  readonly postgres: string;
  readonly embedded: string;
  readonly heddle: string;
  readonly day: string;
  /** How many processes wanted a core, on average, before and after. */
  readonly load: readonly [number, number];
  readonly minutes: number;
}

/** Everything that was measured in one run. */
export interface Sizing {
  readonly machine: Machine;
  readonly objects: Readonly<Record<DatabaseName, readonly ObjectFigures[]>>;
  readonly peers: Readonly<Record<DatabaseName, readonly PeerFigures[]>>;
  readonly replicas: readonly ReplicaFigures[];
  readonly lag: LagFigures;
  readonly growth: GrowthFigures;
}
