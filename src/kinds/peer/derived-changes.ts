import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import { derivedFromId } from '../../model/state/object.ts';
import { isOfKind, type Stored } from '../../model/state/stored.ts';
import { listedPeers, setPeerOrigins } from '../shared/membership.ts';
import { deriveEnrolmentChanges } from './arrival.ts';
import { chooseRenamedLabel } from './label.ts';

/**
 * Returns the changes that follow from a change of a peer: its label follows its name, and references to a deleted peer
 * are removed.
 */
export function derivePeerChanges(step: ObjectChange<Stored<'Peer'>>, state: State): readonly DerivedChange[] {
  const { before, after } = step;
  if (before === undefined) return deriveEnrolmentChanges(step, state);
  return after === undefined ? deriveDeletionChanges(before, state) : relabel(before, after, state);
}

/** Documents name the peer by its label, so a label that documents may name is kept. */
function relabel(before: Stored<'Peer'>, after: Stored<'Peer'>, state: State): readonly DerivedChange[] {
  if (before.name === after.name || isNamedByDocuments(after, state)) return [];
  const label = chooseRenamedLabel(after, state);
  if (label === (after.spec.dns_label ?? '')) return [];
  return [{ change: { ...after, key: label }, spec: { ...after.spec, dns_label: label } }];
}

function isNamedByDocuments(peer: Stored<'Peer'>, state: State): boolean {
  return peer.declared.length > 0 || state.referrersOf(peer.id).some(({ from }) => from.declared.length > 0);
}

/**
 * Kinds whose objects concern only the peer that they reference. They are deleted with it, so that they never hold up
 * the expiry of a peer.
 */
const peerOnlyKinds = ['Policy', 'AccessTest'];

/** Deletes the policies and tests about a deleted peer and the services that it exposes, and removes it from groups. */
function deriveDeletionChanges(peer: Stored<'Peer'>, state: State): readonly DerivedChange[] {
  return state.referrersOf(peer.id).flatMap(({ from, field }): readonly DerivedChange[] => {
    if (peerOnlyKinds.includes(from.kind) || derivedFromId(from) === peer.id) return [{ remove: from }];
    return isOfKind(from, 'Group') && field === 'peers' ? [removeDeletedPeers(from, state)] : [];
  });
}

/** Removes all deleted peers from the group at once, because one step may delete several. */
function removeDeletedPeers(group: Stored<'Group'>, state: State): DerivedChange {
  const gone = listedPeers(group).filter((id) => state.get(id) === undefined);
  return setPeerOrigins(
    group,
    gone.map((id) => [id, []]),
  );
}
