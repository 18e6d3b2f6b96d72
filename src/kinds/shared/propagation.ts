import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange } from '../../model/declare/mutation.ts';
import type { MemberOrigins } from '../../model/state/members.ts';
import type { Stored } from '../../model/state/stored.ts';
import { isServerManaged, originsIn, setPeerOrigins } from './membership.ts';

/**
 * Origins of the memberships that a user's groups give to the user's peers: `enrolment`, or `idp` for groups of an
 * identity provider.
 */
const [enrolled, provided] = ['enrolment', 'idp'];

/** Whether new groups of a user apply to peers that the user has already. */
export function isGroupPropagationEnabled(state: State): boolean {
  const [account] = state.ofKind('Account');
  return account !== undefined && account.spec.settings?.groups_propagation_enabled === true;
}

/** Returns the peers that a user enrolled. */
export function peersOf(user: Stored<'User'>, state: State): readonly Stored<'Peer'>[] {
  return state.referrersBy('Peer', 'user_id', user.id);
}

/**
 * Returns the changes that add the user's peers to new groups of the user, and remove them from groups that the user
 * lost.
 */
export function propagateGroupChanges(
  before: Stored<'User'>,
  after: Stored<'User'>,
  state: State,
): readonly DerivedChange[] {
  const [was, is] = [before.spec.auto_groups ?? [], after.spec.auto_groups ?? []];
  const added = is.filter((id) => !was.includes(id));
  const removed = was.filter((id) => !is.includes(id));
  if (added.length + removed.length === 0) return [];
  const peers = peersOf(after, state);
  return [
    ...added.flatMap((id) => addPeersToGroup(state.find('Group', id), peers)),
    ...removed.flatMap((id) => removePeersFromGroup(state.find('Group', id), peers)),
  ];
}

/** Returns the changes that add the peers of all users to the groups of their users. */
export function propagateAllGroups(state: State): readonly DerivedChange[] {
  const peersByGroup = new Map<string, Stored<'Peer'>[]>();
  for (const user of state.ofKind('User')) {
    const peers = peersOf(user, state);
    if (peers.length === 0) continue;
    for (const id of user.spec.auto_groups ?? []) {
      const listed = peersByGroup.get(id) ?? [];
      listed.push(...peers);
      peersByGroup.set(id, listed);
    }
  }
  return [...peersByGroup].flatMap(([id, peers]) => addPeersToGroup(state.find('Group', id), peers));
}

/** Adds peers to a group, with the origin that fits the group. */
function addPeersToGroup(
  group: Stored<'Group'> | undefined,
  peers: readonly Stored<'Peer'>[],
): readonly DerivedChange[] {
  if (group === undefined) return [];
  const origin = (group.derived.issued ?? 'api') === 'api' ? enrolled : provided;
  return changeOrigins(group, peers, (origins) => (origins.includes(origin) ? origins : [...origins, origin].sort()));
}

/** Removes the origins `enrolment` and `idp` of peers in a group. Peers with other origins stay members. */
function removePeersFromGroup(
  group: Stored<'Group'> | undefined,
  peers: readonly Stored<'Peer'>[],
): readonly DerivedChange[] {
  if (group === undefined) return [];
  return changeOrigins(group, peers, (origins) =>
    origins.filter((origin) => origin !== enrolled && origin !== provided),
  );
}

function changeOrigins(
  group: Stored<'Group'>,
  peers: readonly Stored<'Peer'>[],
  change: (origins: MemberOrigins) => MemberOrigins,
): readonly DerivedChange[] {
  if (isServerManaged(group)) return [];
  const changed = peers.flatMap(({ id }) => {
    const origins = originsIn(group, id);
    const left = change(origins);
    return left.length === origins.length ? [] : [[id, left] as const];
  });
  return changed.length === 0 ? [] : [setPeerOrigins(group, changed)];
}
