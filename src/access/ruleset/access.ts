import type { BitSet } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Takeovers } from '../../model/state/ingress-takeovers.ts';
import type { Endpoints } from './endpoints.ts';
import type { ObservedPeers } from './facts.ts';
import type { Flow } from './flows.ts';
import type { Membership } from './groups.ts';
import type { EvaluatedPosture } from './postures.ts';
import type { GuardedRoute, RoutedDestination } from './routed-destinations.ts';

/**
 * Compiled access of one state of an account, called an image: which endpoints reach which. Made by `compileAccess`,
 * updated by `updateAccess`, immutable.
 */
export interface AccessImage {
  readonly state: State;
  readonly observedPeers: ObservedPeers;
  readonly endpoints: Endpoints;
  readonly groups: PersistentMap<Membership>;
  /** Ids of groups that contain every peer. */
  readonly universalGroups: readonly string[];
  /** Resources and routes by id, with their gateways and the peers that may use them. */
  readonly routedDestinations: PersistentMap<RoutedDestination>;
  /** Routes that have access control groups. */
  readonly guardedRoutes: readonly GuardedRoute[];
  /** Endpoints that take part: approved peers, proxies, and enabled resources and routes with at least one gateway. */
  readonly live: BitSet;
  /** Ingress ports that are forwarded by another ingress peer because their own is offline, by id. */
  readonly takeovers: Takeovers;
  /** Posture checks by id, with the peers that pass. */
  readonly postures: PersistentMap<EvaluatedPosture>;
  /** Flows of each policy, ingress port and unguarded route, by the id of that object. */
  readonly flowsBy: PersistentMap<readonly Flow[]>;
  /** All flows of `flowsBy`, sorted by the ids of these objects. */
  readonly flows: readonly Flow[];
}
