import type { State } from '../../model/kind.ts';
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

/** Whether two groups have a peer in common. Walks the smaller one. */
export function sharePeer(a: StoredObject, b: StoredObject, state: State): boolean {
  if (a.id === b.id) return true;
  if (isAll(a)) return countPeers(b, state) > 0;
  if (isAll(b)) return countPeers(a, state) > 0;
  const [few, many] = listedPeers(a).length <= listedPeers(b).length ? [a, b] : [b, a];
  return listedPeers(few).some((peer) => holdsPeer(many, peer));
}
