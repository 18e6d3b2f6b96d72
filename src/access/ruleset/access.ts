import type { BitSet } from '../../lib/bits/bit-set.ts';
import type { PersistentMap } from '../../lib/persistent-map.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Ends } from './ends.ts';
import type { ObservedPeers } from './facts.ts';
import type { Flow } from './flows.ts';
import type { Membership } from './groups.ts';
import type { Gate, Place } from './places.ts';
import type { PostureBits } from './postures.ts';

/**
 * Who reaches whom in one state of an account, ready to be asked. Made by `compileAccess`, carried on by `updateAccess`;
 * never edited.
 */
export interface Access {
  readonly state: State;
  readonly observedPeers: ObservedPeers;
  readonly ends: Ends;
  readonly groups: PersistentMap<Membership>;
  /** Groups that hold everybody. */
  readonly alls: readonly string[];
  /** Resources and routes by id: who leads there, and who may be led. */
  readonly places: PersistentMap<Place>;
  /** Routes that groups guard. */
  readonly gates: readonly Gate[];
  /** Ends that take part: approved peers, and enabled resources and routes to which somebody leads. */
  readonly live: BitSet;
  /** By id of the posture check. */
  readonly postures: PersistentMap<PostureBits>;
  /** What each policy, and each unguarded route, lets through; by its id. */
  readonly flowsBy: PersistentMap<readonly Flow[]>;
  /** All of them, in the order of their ids. */
  readonly flows: readonly Flow[];
}
