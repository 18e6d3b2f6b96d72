import type { DerivedChange, State, Step } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { movedPeers } from '../shared/membership.ts';
import { freeAddress, hasIpv6, isTakenIn, listed, rangeOf, withIpv6 } from '../shared/peer-addresses.ts';

/** Peers that join a group with IPv6 get an address, and those that leave the last one lose it. */
export function followIpv6({ before, after }: Step<Stored<'Group'>>, state: State): readonly DerivedChange[] {
  const [account] = state.ofKind('Account');
  const group = after ?? before;
  if (account === undefined || group === undefined || !hasIpv6Enabled(group, state)) return [];
  const range = rangeOf(account, 'ipv6');
  const taken = new Set<string>();
  const isTaken = isTakenIn(state, 'ipv6');
  const { joined, left } = movedPeers(before, after);
  return [...joined, ...left].flatMap((id): readonly DerivedChange[] => {
    const peer = state.find('Peer', id);
    if (peer === undefined || range === undefined) return [];
    const has = (peer.spec.ipv6 ?? '') !== '';
    if (has === hasIpv6(account, id, state)) return [];
    const ipv6 = has ? '' : (freeAddress(range, id, (text) => taken.has(text) || isTaken(text)) ?? '');
    taken.add(ipv6);
    return [{ change: peer, spec: withIpv6(peer.spec, ipv6) }];
  });
}

/** Whether the account gives the peers of a group IPv6 addresses. */
export function hasIpv6Enabled(group: Stored<'Group'>, state: State): boolean {
  const [account] = state.ofKind('Account');
  return account !== undefined && listed(account.spec.settings?.ipv6_enabled_groups).includes(group.id);
}
