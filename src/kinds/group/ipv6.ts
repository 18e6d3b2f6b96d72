import type { Consequence, State, Step } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { movedPeers } from '../shared/membership.ts';
import { freeAddress, hasIpv6, isTakenIn, listed, rangeOf, withIpv6 } from '../shared/peer-addresses.ts';
import { sectionOf, textOf } from '../shared/stored.ts';

/** Peers that join a group with IPv6 get an address, and those that leave the last one lose it. */
export function followIpv6({ before, after }: Step, state: State): readonly Consequence[] {
  const [account] = state.ofKind('Account');
  const group = after ?? before;
  if (account === undefined || group === undefined || !hasIpv6Enabled(group, state)) return [];
  const range = rangeOf(account, 'ipv6');
  const taken = new Set<string>();
  const isTaken = isTakenIn(state, 'ipv6');
  const { joined, left } = movedPeers(before, after);
  return [...joined, ...left].flatMap((id): readonly Consequence[] => {
    const peer = state.get(id);
    if (peer === undefined || range === undefined) return [];
    const has = textOf(peer, 'ipv6') !== '';
    if (has === hasIpv6(account, id, state)) return [];
    const ipv6 = has ? '' : (freeAddress(range, id, (text) => taken.has(text) || isTaken(text)) ?? '');
    taken.add(ipv6);
    return [{ change: peer, spec: withIpv6(peer.spec, ipv6) }];
  });
}

/** Whether the account gives the peers of a group IPv6 addresses. */
export function hasIpv6Enabled(group: StoredObject, state: State): boolean {
  const [account] = state.ofKind('Account');
  return account !== undefined && listed(sectionOf(account, 'settings')['ipv6_enabled_groups']).includes(group.id);
}
