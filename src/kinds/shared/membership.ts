import type { JsonObject } from '../../lib/json.ts';
import type { Consequence, State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { sectionOf, textsOf } from './stored.ts';

/** Whether a group is the one that holds every peer of the account and has no rows of its own. */
export function isAll(group: StoredObject): boolean {
  return group.derived['system'] === 'all';
}

/** Whether a group is the server's own: `All`, or the proxies of a cluster. */
export function isKept(group: StoredObject): boolean {
  return group.derived['system'] !== undefined;
}

/** The ids of the peers that a group lists; of `All` none, because its membership is derived. */
export function listedPeers(group: StoredObject): readonly string[] {
  const listed = textsOf(group, 'peers');
  return listed.length > 0 ? listed : Object.keys(sectionOf(group, 'peers'));
}

/** How many peers are in a group. */
export function countPeers(group: StoredObject, state: State): number {
  return isAll(group) ? state.countOf('Peer') : sizeOf(group);
}

const sizes = new WeakMap<StoredObject, number>();

/** Counted once for each object, because every member's answer says it. */
function sizeOf(group: StoredObject): number {
  const known = sizes.get(group) ?? listedPeers(group).length;
  sizes.set(group, known);
  return known;
}

/** Whether a peer is in a group, without walking the group. */
export function holdsPeer(group: StoredObject, peer: string): boolean {
  return isAll(group) || Object.hasOwn(sectionOf(group, 'peers'), peer);
}

/** The group with a peer that this hand puts there, nothing when it is there by that hand already. */
export function withMember(group: StoredObject | undefined, peer: string, origin: string): readonly Consequence[] {
  if (group === undefined || isKept(group)) return [];
  // Stored membership is element to origins.
  const peers = sectionOf(group, 'peers') as Readonly<Record<string, readonly string[]>>;
  const origins = peers[peer] ?? [];
  if (origins.includes(origin)) return [];
  return [{ change: group, spec: { ...group.spec, peers: insertSorted(peers, peer, [...origins, origin].sort()) } }];
}

/** Ids grow, so that a new one nearly always comes last; sorting is for the others. */
function insertSorted(
  peers: Readonly<Record<string, readonly string[]>>,
  peer: string,
  origins: readonly string[],
): JsonObject {
  const all = { ...peers, [peer]: origins };
  const last = Object.keys(peers).at(-1);
  if (last === undefined || last <= peer) return all;
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether two groups have a peer in common. Walks the smaller one. */
export function sharePeer(a: StoredObject, b: StoredObject, state: State): boolean {
  if (a.id === b.id) return true;
  if (isAll(a)) return countPeers(b, state) > 0;
  if (isAll(b)) return countPeers(a, state) > 0;
  const [few, many] = listedPeers(a).length <= listedPeers(b).length ? [a, b] : [b, a];
  return listedPeers(few).some((peer) => holdsPeer(many, peer));
}
