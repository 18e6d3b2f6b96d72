import { noVerdicts, type Verdicts } from './verdicts.ts';

/** What is known about a peer at the moment. What is absent is not known: checks that need it are undecided. */
export interface PeerFacts {
  /** The operating system in one word: `linux`, `darwin`, `windows`, `android`, `ios` or another. */
  readonly system?: string;
  readonly systemVersion?: string;
  readonly kernelVersion?: string;
  readonly clientVersion?: string;
  /** Two letters of ISO 3166-1. */
  readonly country?: string;
  /** The English name. */
  readonly city?: string;
  /** Addresses of its network interfaces, with or without a prefix. */
  readonly addresses?: readonly string[];
  /** The public address from which it is connected. */
  readonly connectionAddress?: string;
  /** Paths of executables that are there and run. */
  readonly processes?: readonly string[];
  /** Certificates that are valid and whose keys it proved to hold: each in PEM, behind it those that lead to an authority. */
  readonly certificates?: readonly (readonly string[])[];
}

/** What access depends on besides the objects of the account. */
export interface ObservedPeers {
  /** By id of the peer. Nothing is known about a peer that is not there. */
  readonly facts: ReadonlyMap<string, PeerFacts>;
  /** Peers that wait for approval, besides those whose object says so: they take no part. */
  readonly waiting: ReadonlySet<string>;
  /** Peers whose user has to sign in again: what they may do stays, but they are away. */
  readonly expired: ReadonlySet<string>;
  /** Peers that forward ports from outside the mesh, or might, and are offline. */
  readonly offline: ReadonlySet<string>;
  /** What endpoint-security products say: peers that one of them keeps out take no part. */
  readonly verdicts: Verdicts;
}

/** Nothing is known about anybody: what follows from the objects alone. */
export const nothingObserved: ObservedPeers = {
  facts: new Map(),
  waiting: new Set(),
  expired: new Set(),
  offline: new Set(),
  verdicts: noVerdicts,
};
