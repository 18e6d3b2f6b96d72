import type { Consequence, State, Step } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { sectionOf, textsOf } from '../shared/stored.ts';

/** The hand that puts the groups of a user on the user's peers. */
const origin = 'enrolment';

/** What else changes with a user: the old owner's role, the groups and sign-ins of the user's peers, or these peers. */
export function followUser(step: Step, state: State): readonly Consequence[] {
  const { before, after } = step;
  if (before === undefined) return [];
  const peers = peersOf(before, state);
  if (after === undefined) return peers.map((peer) => ({ remove: peer }));
  return [
    ...handOver(before, after, step, state),
    ...(before.spec['is_blocked'] !== true && after.spec['is_blocked'] === true ? peers.flatMap(signOut) : []),
    ...(propagates(state) ? moveGroups(before, after, peers, state) : []),
  ];
}

/** Whether new groups of a user reach the peers that the user has already. */
export function propagates(state: State): boolean {
  const [account] = state.ofKind('Account');
  return account !== undefined && sectionOf(account, 'settings')['groups_propagation_enabled'] === true;
}

function peersOf(user: StoredObject, state: State): readonly StoredObject[] {
  return state
    .referrersOf(user.id)
    .filter(({ from, field }) => from.kind === 'Peer' && field === 'user_id')
    .map(({ from }) => from);
}

/** An owner who gives the role away becomes an admin. */
function handOver(before: StoredObject, after: StoredObject, { actor }: Step, state: State): readonly Consequence[] {
  if (before.spec['role'] === 'owner' || after.spec['role'] !== 'owner' || actor?.type !== 'user') return [];
  const giver = state.get(actor.id);
  if (giver === undefined || giver.id === after.id || giver.spec['role'] !== 'owner') return [];
  return [{ change: giver, spec: { ...giver.spec, role: 'admin' } }];
}

/** Peers of somebody who is kept out have to be signed in again. */
function signOut(peer: StoredObject): readonly Consequence[] {
  return peer.derived['login_expired'] === true
    ? []
    : [{ change: peer, spec: peer.spec, derived: { login_expired: true } }];
}

function moveGroups(
  before: StoredObject,
  after: StoredObject,
  peers: readonly StoredObject[],
  state: State,
): readonly Consequence[] {
  const [was, is] = [textsOf(before, 'auto_groups'), textsOf(after, 'auto_groups')];
  const added = is.filter((id) => !was.includes(id));
  const removed = was.filter((id) => !is.includes(id));
  return [
    ...added.flatMap((id) => withPeers(state.get(id), peers, true)),
    ...removed.flatMap((id) => withPeers(state.get(id), peers, false)),
  ];
}

/** The group with or without the peers, as far as enrolment has put them there. */
function withPeers(
  group: StoredObject | undefined,
  peers: readonly StoredObject[],
  present: boolean,
): readonly Consequence[] {
  if (group === undefined) return [];
  const members = new Map(Object.entries(sectionOf(group, 'peers') as Readonly<Record<string, readonly string[]>>));
  let changed = false;
  for (const { id } of peers) {
    const origins = members.get(id) ?? [];
    if (origins.includes(origin) === present) continue;
    changed = true;
    const left = present ? [...origins, origin].sort() : origins.filter((item) => item !== origin);
    if (left.length === 0) members.delete(id);
    else members.set(id, left);
  }
  if (!changed) return [];
  const sorted = [...members].sort(([a], [b]) => (a < b ? -1 : 1));
  return [{ change: group, spec: { ...group.spec, peers: Object.fromEntries(sorted) } }];
}
