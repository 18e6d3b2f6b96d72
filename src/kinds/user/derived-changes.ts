import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { isGroupPropagationEnabled, peersOf, propagateGroupChanges } from '../shared/propagation.ts';

/**
 * Returns the changes that follow from a change of a user: the role of the previous owner, the groups and sign-ins of
 * the user's peers, or the deletion of these peers.
 */
export function deriveUserChanges(step: ObjectChange<Stored<'User'>>, state: State): readonly DerivedChange[] {
  const { before, after } = step;
  if (before === undefined) return [];
  const peers = peersOf(before, state);
  if (after === undefined) return peers.map((peer) => ({ remove: peer }));
  return [
    ...transferOwnership(before, after, step, state),
    ...(before.spec.is_blocked !== true && after.spec.is_blocked === true ? peers.flatMap(signOut) : []),
    ...(isGroupPropagationEnabled(state) ? propagateGroupChanges(before, after, state) : []),
  ];
}

/** Turns an owner who hands over the role into an admin. */
function transferOwnership(
  before: Stored<'User'>,
  after: Stored<'User'>,
  { actor }: ObjectChange<Stored<'User'>>,
  state: State,
): readonly DerivedChange[] {
  if (before.spec.role === 'owner' || after.spec.role !== 'owner' || actor?.type !== 'user') return [];
  const giver = state.find('User', actor.id);
  if (giver === undefined || giver.id === after.id || giver.spec.role !== 'owner') return [];
  return [{ change: giver, spec: { ...giver.spec, role: 'admin' } }];
}

/** Peers of a blocked user have to sign in again. */
function signOut(peer: Stored<'Peer'>): readonly DerivedChange[] {
  return peer.derived.login_expired === true ? [] : [{ change: peer, derived: { login_expired: true } }];
}
/** Warns of what is deleted with a user in addition to objects. */
export function warnOfDeletion(
  before: Stored<'User'> | undefined,
  after: Stored<'User'> | undefined,
): readonly string[] {
  if (before === undefined || after !== undefined) return [];
  if (before.spec.is_service_user === true) return ['its tokens stop working'];
  return ['the tokens, invites and sign-in of the user are deleted too'];
}
