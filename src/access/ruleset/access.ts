import type { BitSet } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Takeovers } from '../../model/state/ingress-takeovers.ts';
import type { Endpoints } from './endpoints.ts';
import type { ObservedPeers } from './facts.ts';
import type { Flow } from './flows.ts';
import type { Membership } from './groups.ts';
import type { PostureBits } from './postures.ts';
import type { GuardedRoute, RoutedDestination } from './routed-destinations.ts';

/**
 * Who reaches whom in one state of an account, ready to be queried. Made by `compileAccess`, updated by `updateAccess`;
 * never edited.
 */
export interface Access {
  readonly state: State;
  readonly observedPeers: ObservedPeers;
  readonly endpoints: Endpoints;
  readonly groups: PersistentMap<Membership>;
  /** Groups that hold everybody. */
  readonly universalGroups: readonly string[];
  /** Resources and routes by id: who leads there, and who may be led. */
  readonly routedDestinations: PersistentMap<RoutedDestination>;
  /** Routes that groups guard. */
  readonly guardedRoutes: readonly GuardedRoute[];
  /** Endpoints that take part: approved peers, and enabled resources and routes with at least one gateway. */
  readonly live: BitSet;
  /** Who forwards which ingress ports in place of ingress peers that are offline. */
  readonly takeovers: Takeovers;
  /** By id of the posture check. */
  readonly postures: PersistentMap<PostureBits>;
  /** What each policy, ingress port and unguarded route lets through; by its id. */
  readonly flowsBy: PersistentMap<readonly Flow[]>;
  /** All of them, in the order of their ids. */
  readonly flows: readonly Flow[];
}
