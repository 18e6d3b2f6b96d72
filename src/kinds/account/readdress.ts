import type { State } from '../../model/declare/kind.ts';
import type { DerivedChange } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import {
  type AddressField,
  createTakenCheck,
  findFreeAddress,
  hasIpv6,
  isAssignableIn,
  moveToRange,
  rangeOf,
  withIpv6,
} from '../shared/peer-addresses.ts';

/**
 * Returns the new addresses of peers after a change of the address ranges, or of the groups with IPv6. An address
 * inside the new range is kept, because a document may just have stated it, and is given to no other peer. `others` are
 * the other changes that follow from the settings. Where they change the same peer, the new address is added to that
 * change.
 */
export function readdressPeers(
  before: Stored<'Account'>,
  after: Stored<'Account'>,
  state: State,
  others: readonly DerivedChange[],
): readonly DerivedChange[] {
  const moved = { ip: rangeChanged(before, after, 'ip'), ipv6: rangeChanged(before, after, 'ipv6') };
  if (!moved.ip && !moved.ipv6 && ipv6GroupsText(before) === ipv6GroupsText(after)) return [];
  const changed = new Map(
    others.flatMap((other) => ('change' in other ? [[other.change.id, other.spec] as const] : [])),
  );
  const taken = findKeptAddresses(after, state, 'ip');
  const taken6 = findKeptAddresses(after, state, 'ipv6');
  const peers = state.ofKind('Peer').flatMap((peer): readonly DerivedChange[] => {
    const ip = moved.ip
      ? moveAddress(before, after, { id: peer.id, address: peer.spec.ip ?? '' }, 'ip', taken)
      : (peer.spec.ip ?? '');
    const old6 = peer.spec.ipv6 ?? '';
    const wants6 = hasIpv6(after, peer.id, state);
    const stays = old6 !== '' && !moved.ipv6;
    const ipv6 = !wants6 ? '' : stays ? old6 : assignIpv6(before, after, peer, taken6, state, moved.ipv6);
    if (ip === (peer.spec.ip ?? '') && ipv6 === old6) return [];
    return [{ change: peer, spec: withIpv6({ ...(changed.get(peer.id) ?? peer.spec), ip }, ipv6) }];
  });
  if (!moved.ip) return peers;
  const proxies = state.ofKind('ProxyPeer').map((proxy): DerivedChange => {
    return {
      change: proxy,
      spec: {
        ...proxy.spec,
        ip: moveAddress(before, after, { id: proxy.id, address: proxy.spec.ip ?? '' }, 'ip', taken),
      },
    };
  });
  return [...peers, ...proxies];
}

function rangeChanged(before: Stored<'Account'>, after: Stored<'Account'>, field: AddressField): boolean {
  return rangeOf(before, field)?.text !== rangeOf(after, field)?.text;
}

function ipv6GroupsText(account: Stored<'Account'>): string {
  return JSON.stringify(account.spec.settings?.ipv6_enabled_groups ?? []);
}

/** Returns the addresses that are inside the range already. */
function findKeptAddresses(account: Stored<'Account'>, state: State, field: AddressField): Set<string> {
  const range = rangeOf(account, field);
  const holders: readonly { readonly spec: { readonly ip?: string; readonly ipv6?: string } }[] = [
    ...state.ofKind('Peer'),
    ...state.ofKind('ProxyPeer'),
  ];
  const addresses = holders.map(({ spec }) => spec[field] ?? '');
  return new Set(range === undefined ? [] : addresses.filter((address) => isAssignableIn(range, address)));
}

/** Returns the address with the same offset in the new range, so that people recognise it, or another free address. */
function moveAddress(
  before: Stored<'Account'>,
  after: Stored<'Account'>,
  { id, address: old }: { readonly id: string; readonly address: string },
  field: AddressField,
  taken: Set<string>,
): string {
  const [was, is] = [rangeOf(before, field), rangeOf(after, field)];
  if (is === undefined) return '';
  if (isAssignableIn(is, old)) return old;
  const same = was === undefined ? undefined : moveToRange(was, is, old);
  const found = same !== undefined && !taken.has(same) ? same : findFreeAddress(is, id, (text) => taken.has(text));
  // A rule has checked that there is room.
  const address = found ?? old;
  taken.add(address);
  return address;
}

function assignIpv6(
  before: Stored<'Account'>,
  after: Stored<'Account'>,
  peer: Stored<'Peer'>,
  taken: Set<string>,
  state: State,
  moved: boolean,
): string {
  const old = peer.spec.ipv6 ?? '';
  if (moved && old !== '') return moveAddress(before, after, { id: peer.id, address: old }, 'ipv6', taken);
  const range = rangeOf(after, 'ipv6');
  const isTaken = createTakenCheck(state, 'ipv6');
  const free = range && findFreeAddress(range, peer.id, (text) => taken.has(text) || (!moved && isTaken(text)));
  if (free !== undefined) taken.add(free);
  return free ?? '';
}
