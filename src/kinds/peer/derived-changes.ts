import type { DerivedChange, State, Step } from '../../model/declare/kind.ts';
import { originOf } from '../../model/state/object.ts';
import { isOfKind, type Stored } from '../../model/state/stored.ts';
import { listedPeers, withPeers } from '../shared/membership.ts';
import { arrive } from './arrival.ts';
import { freeLabel } from './label.ts';

/** What else changes with a peer: its label follows its name, and what names it goes or lets go with it. */
export function followPeer(step: Step<Stored<'Peer'>>, state: State): readonly DerivedChange[] {
  const { before, after } = step;
  if (before === undefined) return arrive(step, state);
  return after === undefined ? leave(before, state) : relabel(before, after, state);
}

/** Documents know the peer by its label, so a label that they may mean stays. */
function relabel(before: Stored<'Peer'>, after: Stored<'Peer'>, state: State): readonly DerivedChange[] {
  if (before.name === after.name || isNamedByDocuments(after, state)) return [];
  const label = freeLabel(after, state);
  if (label === (after.spec.dns_label ?? '')) return [];
  return [{ change: { ...after, key: label }, spec: { ...after.spec, dns_label: label } }];
}

function isNamedByDocuments(peer: Stored<'Peer'>, state: State): boolean {
  return peer.declared.length > 0 || state.referrersOf(peer.id).some(({ from }) => from.declared.length > 0);
}

/** What cannot be about anybody else: expiry is held up neither by policies nor by tests. */
const aboutPeers = ['Policy', 'AccessTest'];

/** Policies and tests about the peer alone and what it exposes go with it; groups hold it no longer. */
function leave(peer: Stored<'Peer'>, state: State): readonly DerivedChange[] {
  return state.referrersOf(peer.id).flatMap(({ from, field }): readonly DerivedChange[] => {
    if (aboutPeers.includes(from.kind) || originOf(from) === peer.id) return [{ remove: from }];
    return isOfKind(from, 'Group') && field === 'peers' ? [withoutMissing(from, state)] : [];
  });
}

/** Several peers may go in one step, so the group lets go of all that are not there any more. */
function withoutMissing(group: Stored<'Group'>, state: State): DerivedChange {
  const gone = listedPeers(group).filter((id) => state.get(id) === undefined);
  return withPeers(
    group,
    gone.map((id) => [id, []]),
  );
}
