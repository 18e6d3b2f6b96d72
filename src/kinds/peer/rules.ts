import type { Json, JsonObject } from '../../lib/json.ts';
import { type Cidr, contains, parseAddress, parseCidr } from '../../lib/net/address.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { Mutation } from '../../model/declare/mutation.ts';
import type { Stored } from '../../model/state/stored.ts';
import { holdsPeer } from '../shared/membership.ts';

/** Checks a change of a peer. Unchanged fields are not checked. */
export function checkMutation({ before, after }: Mutation<Stored<'Peer'>>, _was: State, next: State): readonly Fault[] {
  if (after === undefined) return [];
  if (before === undefined) return checkEnrolment(after);
  const [account] = next.ofKind('Account');
  const settings = account === undefined ? {} : (account.spec.settings ?? {});
  return [
    ...checkExpirations(before, after),
    ...(before.spec.ip === (after.spec.ip ?? '') ? [] : checkIpv4(after, settings, next)),
    ...(before.spec.ipv6 === (after.spec.ipv6 ?? '') ? [] : checkIpv6(after, settings, next)),
  ];
}

/** Refuses an enrolment for which there is no free address. */
function checkEnrolment(peer: Stored<'Peer'>): readonly Fault[] {
  if (peer.derived.enrolled_by === undefined || (peer.spec.ip ?? '') !== '') return [];
  const message = 'the account has no free address for another peer; choose a larger `network_range`, or delete peers';
  return [{ code: 'nothing_free', path: '', message }];
}

const expirySettings = ['login_expiration_enabled', 'inactivity_expiration_enabled'] as const;

/** Refuses to change expiry settings of a peer without a user, because no user could sign it in again. */
function checkExpirations(before: Stored<'Peer'>, after: Stored<'Peer'>): readonly Fault[] {
  if ((after.spec.user_id ?? '') !== '') return [];
  return expirySettings
    .filter((field) => before.spec[field] !== after.spec[field])
    .map((field) => {
      const message = `the peer enrolled with a setup key, so no user could sign it in again; leave \`${field}\` unchanged`;
      return { code: 'precondition_failed', path: `/${field}`, message };
    });
}

function checkIpv4(peer: Stored<'Peer'>, settings: JsonObject, state: State): readonly Fault[] {
  const ip = peer.spec.ip ?? '';
  if (ip === '' || state.findByUnique('ProxyPeer', 'ip', ip) === undefined)
    return checkInRange(peer, 'ip', settings['network_range']);
  const message = `a proxy has the address ${ip}; choose a free one`;
  return [{ code: 'value_taken', path: '/ip', message }];
}

function checkIpv6(peer: Stored<'Peer'>, settings: JsonObject, state: State): readonly Fault[] {
  if ((peer.spec.ipv6 ?? '') === '') return [];
  const groups = textsIn(settings['ipv6_enabled_groups']).flatMap((id) => state.find('Group', id) ?? []);
  if (groups.some((group) => holdsPeer(group, peer.id)))
    return checkInRange(peer, 'ipv6', settings['network_range_v6']);
  const message =
    'IPv6 is not enabled for any group of the peer; add one of its groups to `ipv6_enabled_groups` of the account first';
  return [{ code: 'precondition_failed', path: '/ipv6', message }];
}

function checkInRange(peer: Stored<'Peer'>, field: 'ip' | 'ipv6', rangeText: Json | undefined): readonly Fault[] {
  const text = peer.spec[field] ?? '';
  const address = parseAddress(text);
  const range = typeof rangeText === 'string' ? parseCidr(rangeText) : undefined;
  if (address === undefined || range?.ok !== true) return [];
  const { cidr } = range;
  if (contains(cidr, address) && !isEdge(cidr, address.address)) return [];
  const message = `\`${text}\` is not an address for peers of this account; choose a free one inside ${cidr.text}`;
  return [{ code: 'peer_address_outside', path: `/${field}`, message }];
}

/** Whether an address is the first or the last of a range. Peers never get these. */
function isEdge(range: Cidr, address: bigint): boolean {
  const size = 1n << BigInt((range.family === 4 ? 32 : 128) - range.prefix);
  return address === range.address || address === range.address + size - 1n;
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Whether a peer belongs to the viewer, and the account lets users see their own peers. */
export function isVisibleOwnPeer(peer: Stored<'Peer'>, viewer: string, state: State): boolean {
  const [account] = state.ofKind('Account');
  const isHidden = account !== undefined && account.spec.settings?.regular_users_view_blocked === true;
  return !isHidden && peer.spec.user_id === viewer;
}

/** Whether the peer is deleted some time after it disconnects. Documents do not manage such peers. */
export function isEphemeral(peer: Stored<'Peer'>): boolean {
  return peer.spec.ephemeral === true;
}
