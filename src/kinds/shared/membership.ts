import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange } from '../../model/declare/mutation.ts';
import {
  changedMembers,
  type MemberEdit,
  type MemberOrigins,
  membersIn,
  originsOf,
} from '../../model/state/members.ts';
import type { Stored } from '../../model/state/stored.ts';

/** Whether a group is `All`, which contains every peer of the account and stores no members. */
export function isAll(group: Stored<'Group'>): boolean {
  return group.derived.system === 'all';
}

/** Whether a group is managed by the server: `All`, or the proxies of a cluster. */
export function isServerManaged(group: Stored<'Group'>): boolean {
  return group.derived.system !== undefined;
}

/** Returns the ids of the peers that a group stores. Empty for `All`, whose membership is derived. */
export function listedPeers(group: Stored<'Group'>): readonly string[] {
  return membersIn(group, 'peers').keys();
}

/** Returns the groups that contain a peer, `All` first. */
export function groupsOf(peer: Stored<'Peer'>, state: State): readonly Stored<'Group'>[] {
  const all = state.lookUp('Group', 'name', 'All').filter(isAll);
  return [...all, ...state.referrersBy('Group', 'peers', peer.id)];
}

/** Returns a change of a group that sets the origins of some peers. A peer without origins is removed. */
export function setPeerOrigins(group: Stored<'Group'>, edits: readonly MemberEdit[]): DerivedChange {
  return { change: group, members: { peers: edits } };
}

/** Returns the number of peers in a group. */
export function countPeers(group: Stored<'Group'>, state: State): number {
  return isAll(group) ? state.countOf('Peer') : membersIn(group, 'peers').size;
}

/** Returns the origins that put a peer into a group. */
export function originsIn(group: Stored<'Group'>, peer: string): MemberOrigins {
  return originsOf(group, 'peers', peer);
}

/** Whether a group contains a peer. Does not iterate over the group. */
export function holdsPeer(group: Stored<'Group'>, peer: string): boolean {
  return isAll(group) || originsIn(group, peer).length > 0;
}

/**
 * Returns the peers that joined and left a group. Does not iterate over the group when one version was derived from the
 * other.
 */
export function changedPeers(
  before: Stored<'Group'> | undefined,
  after: Stored<'Group'> | undefined,
): { readonly joined: readonly string[]; readonly left: readonly string[] } {
  const moves = changedMembers(before, after, 'peers');
  const ids = (side: 'was' | 'is') => moves.filter((move) => move[side].length === 0).map(({ id }) => id);
  return { joined: ids('was'), left: ids('is') };
}

/** Returns a change of a group that adds a peer with an origin, or nothing when the peer has that origin already. */
export function addMember(group: Stored<'Group'> | undefined, peer: string, origin: string): readonly DerivedChange[] {
  if (group === undefined || isServerManaged(group)) return [];
  const origins = originsIn(group, peer);
  if (origins.includes(origin)) return [];
  return [setPeerOrigins(group, [[peer, [...origins, origin].sort()]])];
}

/** Whether two groups have a peer in common. Iterates over the smaller one. */
export function haveCommonPeer(a: Stored<'Group'>, b: Stored<'Group'>, state: State): boolean {
  if (a.id === b.id) return true;
  if (isAll(a)) return countPeers(b, state) > 0;
  if (isAll(b)) return countPeers(a, state) > 0;
  const [few, many] = listedPeers(a).length <= listedPeers(b).length ? [a, b] : [b, a];
  return listedPeers(few).some((peer) => holdsPeer(many, peer));
}
