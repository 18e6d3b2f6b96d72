import {
  mapDigest,
  mapOf,
  ownChange,
  ownText,
  type PeerMap,
  sharedChange,
  sharedText,
} from '../../../access/netmap/map.ts';
import { touchedMaps } from '../../../access/netmap/touched.ts';
import type { Access } from '../../../access/ruleset/access.ts';
import type { Engine } from '../../../commit/engine.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';

/** From what the network maps of an account are worked out: one state under what was known of its peers. */
export interface MapImage {
  readonly state: Snapshot;
  readonly access: Access;
}

/** The map of a peer, and its digest. */
export interface SentMap {
  readonly map: PeerMap;
  /** Equal for equal maps, on whatever server. */
  readonly digest: string;
}

/**
 * The image of an account at this revision or a later one, under what was known of its peers the last time; without a
 * revision everything that was acknowledged and observed is in it.
 */
export async function readMapImage(engine: Engine, account: string, revision?: number): Promise<MapImage> {
  const { snapshots, access } = engine;
  if (revision === undefined) {
    const state = await snapshots.fresh(account);
    return { state, access: await access.of(state) };
  }
  const state = await snapshots.at(account, revision);
  return { state, access: await access.soon(state) };
}

/** Why a peer gets no map any more. */
export type Dismissal = 'deleted' | 'blocked' | 'expired';

/** The map of a peer, or why it gets none. */
export function mapIn(image: MapImage, peer: string): SentMap | Dismissal {
  const dismissal = dismissalOf(image, peer);
  if (dismissal !== undefined) return dismissal;
  const map = mapOf(image.access, peer);
  return map === undefined ? 'deleted' : { map, digest: mapDigest(map) };
}

/** Ids of peers whose map may be another, or that may get none any more; none is missing. */
export function touchedBetween(before: MapImage, after: MapImage): ReadonlySet<string> {
  if (before.state === after.state && before.access === after.access) return new Set();
  const changed = after.state.changedSince(before.state);
  const touched = new Set(touchedMaps(before.access, after.access, changed));
  for (const id of changed) {
    // A deleted peer is sent that, and so are the peers of a blocked user.
    touched.add(id);
    for (const { from, field } of after.state.referrersOf(id)) if (field === 'user_id') touched.add(from.id);
  }
  return touched;
}

/** A map in full: the part that the peer alone is sent, and the shared part, as members of a JSON object. */
export function fullText({ map }: SentMap): { readonly own: string; shared(): string; readonly key: object } {
  return { own: ownText(map), shared: () => sharedText(map.shared), key: map.shared };
}

/**
 * The difference of two maps, in the same two parts; each empty when there is none. The shared part is the same value
 * for peers that are alike.
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
