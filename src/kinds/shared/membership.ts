import type { DerivedChange, State } from '../../model/declare/kind.ts';
import { type MemberEdit, type MemberOrigins, membersIn, movedMembers, originsOf } from '../../model/state/members.ts';
import type { Stored } from '../../model/state/stored.ts';

/** Whether a group is the one that holds every peer of the account and has no rows of its own. */
export function isAll(group: Stored<'Group'>): boolean {
  return group.derived.system === 'all';
}

/** Whether a group is the server's own: `All`, or the proxies of a cluster. */
export function isKept(group: Stored<'Group'>): boolean {
  return group.derived.system !== undefined;
}

/** The ids of the peers that a group lists; of `All` none, because its membership is derived. */
export function listedPeers(group: Stored<'Group'>): readonly string[] {
  return membersIn(group, 'peers').keys();
}

/** The groups that hold a peer, `All` first. */
export function groupsOf(peer: Stored<'Peer'>, state: State): readonly Stored<'Group'>[] {
  const all = state.lookUp('Group', 'name', 'All').filter(isAll);
  return [...all, ...state.referrersBy('Group', 'peers', peer.id)];
}

/** The change of a group in which some peers have other origins; one without origins is gone. */
export function withPeers(group: Stored<'Group'>, edits: readonly MemberEdit[]): DerivedChange {
  return { change: group, members: { peers: edits } };
}

/** How many peers are in a group. */
export function countPeers(group: Stored<'Group'>, state: State): number {
  return isAll(group) ? state.countOf('Peer') : membersIn(group, 'peers').size;
}

/** The origins that put a peer into a group. */
export function originsIn(group: Stored<'Group'>, peer: string): MemberOrigins {
  return originsOf(group, 'peers', peer);
}

/** Whether a peer is in a group, without walking the group. */
export function holdsPeer(group: Stored<'Group'>, peer: string): boolean {
  return isAll(group) || originsIn(group, peer).length > 0;
}

/** Peers that joined a group and that left it, without walking the group when one version came of the other. */
export function movedPeers(
  before: Stored<'Group'> | undefined,
  after: Stored<'Group'> | undefined,
): { readonly joined: readonly string[]; readonly left: readonly string[] } {
  const moves = movedMembers(before, after, 'peers');
  const ids = (side: 'was' | 'is') => moves.filter((move) => move[side].length === 0).map(({ id }) => id);
  return { joined: ids('was'), left: ids('is') };
}

/** The group with a peer that this hand puts there, nothing when it is there by that hand already. */
export function withMember(group: Stored<'Group'> | undefined, peer: string, origin: string): readonly DerivedChange[] {
  if (group === undefined || isKept(group)) return [];
  const origins = originsIn(group, peer);
  if (origins.includes(origin)) return [];
  return [withPeers(group, [[peer, [...origins, origin].sort()]])];
}

/** Whether two groups have a peer in common. Walks the smaller one. */
export function sharePeer(a: Stored<'Group'>, b: Stored<'Group'>, state: State): boolean {
  if (a.id === b.id) return true;
  if (isAll(a)) return countPeers(b, state) > 0;
  if (isAll(b)) return countPeers(a, state) > 0;
  const [few, many] = listedPeers(a).length <= listedPeers(b).length ? [a, b] : [b, a];
  return listedPeers(few).some((peer) => holdsPeer(many, peer));
}
