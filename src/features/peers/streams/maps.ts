import {
  mapDigest,
  networkMapOf,
  ownChange,
  ownText,
  type PeerMap,
  sharedChange,
  sharedText,
} from '../../../access/netmap/map.ts';
import { touchedMaps } from '../../../access/netmap/touched.ts';
import type { AccessImage } from '../../../access/ruleset/access.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/**
 * Input of the network maps of an account: a state, and the access that follows from it and from the observations of
 * its peers.
 */
export interface MapImage {
  readonly state: Snapshot;
  readonly access: AccessImage;
}

/** Map of a peer, and its digest. */
export interface SentMap {
  readonly map: PeerMap;
  /** Digest that is equal for equal maps, on every server. */
  readonly digest: string;
}

/**
 * Returns the image of an account at this revision or a later one, with the last known observations of its peers.
 * Without a revision, the image contains everything that is acknowledged and observed.
 */
export async function readMapImage(engine: Engine, account: string, revision?: number): Promise<MapImage> {
  const { snapshots, access } = engine;
  if (revision === undefined) {
    const state = await snapshots.fresh(account);
    return { state, access: await access.current(state) };
  }
  const state = await snapshots.atLeast(account, revision);
  return { state, access: await access.withLastObservations(state) };
}

/** Reason why a peer gets no map any more. */
export type Dismissal = 'deleted' | 'blocked' | 'expired';

/** Returns the map of a peer, or the reason why the peer gets none. */
export function mapIn(image: MapImage, peer: string): SentMap | Dismissal {
  const dismissal = dismissalOf(image, peer);
  if (dismissal !== undefined) return dismissal;
  const map = networkMapOf(image.access, peer);
  return map === undefined ? 'deleted' : { map, digest: mapDigest(map) };
}

/**
 * Returns the ids of all peers whose map may differ, or that may not get a map any more. It may contain unaffected
 * peers, but misses none.
 */
export function touchedBetween(before: MapImage, after: MapImage): ReadonlySet<string> {
  if (before.state === after.state && before.access === after.access) return new Set();
  const changed = after.state.changedSince(before.state);
  const touched = new Set(touchedMaps(before.access, after.access, changed));
  for (const id of changed) {
    // The reason must be sent to a deleted peer, and to the peers of a blocked user.
    touched.add(id);
    for (const { from, field } of after.state.referrersOf(id)) if (field === 'user_id') touched.add(from.id);
  }
  return touched;
}

/**
 * Returns a complete map as members of a JSON object, in two parts: the part of this peer alone, and the part that
 * peers share.
 */
export function fullText({ map }: SentMap): { readonly own: string; shared(): string; readonly key: object } {
  return { own: ownText(map), shared: () => sharedText(map.shared), key: map.shared };
}

/**
 * Returns the difference of two maps in the same two parts, each empty when there is none. The shared part is the same
 * string for peers with the same shared map.
 */
export function changeText(before: SentMap, after: SentMap): { readonly own: string; readonly shared: string } {
  return { own: ownChange(before.map, after.map), shared: sharedChange(before.map.shared, after.map.shared) };
}

function dismissalOf({ state, access }: MapImage, id: string): Dismissal | undefined {
  const peer = state.find('Peer', id);
  if (peer === undefined) return 'deleted';
  if (state.find('User', peer.spec.user_id ?? '')?.spec.is_blocked === true) return 'blocked';
  return access.observedPeers.expired.has(id) || peer.derived.login_expired === true ? 'expired' : undefined;
}
