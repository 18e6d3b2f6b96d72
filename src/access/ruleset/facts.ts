import { noVerdicts, type Verdicts } from './verdicts.ts';

/** Facts that are known about a peer now. Absent facts are unknown, so checks that need them are undecided. */
export interface PeerFacts {
  /** Operating system: `linux`, `darwin`, `windows`, `android`, `ios` or another single word. */
  readonly system?: string;
  readonly systemVersion?: string;
  readonly kernelVersion?: string;
  readonly clientVersion?: string;
  /** ISO 3166-1 alpha-2 code. */
  readonly country?: string;
  /** English name. */
  readonly city?: string;
  /** Addresses of its network interfaces, with or without a prefix. */
  readonly addresses?: readonly string[];
  /** Public address from which the peer is connected. */
  readonly connectionAddress?: string;
  /** Paths of executables that exist and are running. */
  readonly processes?: readonly string[];
  /**
   * Valid certificates whose private key the peer proved to have. Each is a list of PEM texts: the certificate, then
   * the certificates that chain it to an authority.
   */
  readonly certificates?: readonly (readonly string[])[];
}

/** Facts that access depends on in addition to the objects of the account. */
export interface ObservedPeers {
  /** Facts by peer id. Nothing is known about a peer that is absent. */
  readonly facts: ReadonlyMap<string, PeerFacts>;
  /** Ids of peers that wait for approval, in addition to those whose object says so. They take no part. */
  readonly waiting: ReadonlySet<string>;
  /** Ids of peers whose user has to sign in again. They keep their access, but count as away. */
  readonly expired: ReadonlySet<string>;
  /** Ids of offline peers that forward ports from outside the mesh, or that may have to. */
  readonly offline: ReadonlySet<string>;
  /** Verdicts of endpoint-security products. Peers that any product keeps out take no part. */
  readonly verdicts: Verdicts;
}

/** No observations: access follows from the objects alone. */
export const noObservations: ObservedPeers = {
  facts: new Map(),
  waiting: new Set(),
  expired: new Set(),
  offline: new Set(),
  verdicts: noVerdicts,
};
