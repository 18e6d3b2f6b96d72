import type { DerivedChange, State, Step } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { addGroups } from '../shared/propagation.ts';
import { readdressPeers } from './readdress.ts';

/** What else changes with a setting: groups of users reach their peers, peers do not wait any more, or get other addresses. */
export function followAccount({ before, after }: Step<Stored<'Account'>>, state: State): readonly DerivedChange[] {
  if (before === undefined || after === undefined) return [];
  const followers = [
    ...(!isPropagating(before) && isPropagating(after) ? addGroups(state) : []),
    ...(isApproving(before) && !isApproving(after) ? approvePeers(state) : []),
  ];
  return [...followers, ...readdressPeers(before, after, state, followers)];
}

function isPropagating(account: Stored<'Account'>): boolean {
  return account.spec.settings?.groups_propagation_enabled === true;
}

/** Whether new peers wait for an administrator. */
function isApproving(account: Stored<'Account'>): boolean {
  return account.spec.settings?.extra?.peer_approval_enabled === true;
}

function approvePeers(state: State): readonly DerivedChange[] {
  return state
    .ofKind('Peer')
    .filter(({ spec }) => spec.approval_required === true)
    .map((peer) => ({ change: peer, spec: { ...peer.spec, approval_required: false } }));
}
