import type { Json, JsonObject } from '../../lib/json.ts';
import { type Address, type Cidr, parseAddress, parseCidr } from '../../lib/net/address.ts';
import { formatIpv4, formatIpv6 } from '../../lib/net/address-text.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { holdsPeer } from './membership.ts';

/** The two addresses that a peer may have. */
export type AddressField = 'ip' | 'ipv6';

/** The setting that says where addresses of a field come from. */
const rangeSettings = { ip: 'network_range', ipv6: 'network_range_v6' } as const;

type Ranges = { readonly [Field in AddressField]: Cidr | undefined };

const known = new WeakMap<Stored<'Account'>, Ranges>();

/** The range of which peers get such addresses, if there is one. Read once for each account object: every enrolment asks. */
export function rangeOf(account: Stored<'Account'> | undefined, field: AddressField): Cidr | undefined {
  if (account === undefined) return undefined;
  const ranges = known.get(account) ?? { ip: readRange(account, 'ip'), ipv6: readRange(account, 'ipv6') };
  known.set(account, ranges);
  return ranges[field];
}

function readRange(account: Stored<'Account'>, field: AddressField): Cidr | undefined {
  const text = account.spec.settings?.[rangeSettings[field]];
  const read = typeof text === 'string' ? parseCidr(text) : undefined;
  return read?.ok === true ? read.cidr : undefined;
}

/**
 * A free address of a range, chosen by the id of the object that gets it; `undefined` when there is none. Walks the
 * range in steps that meet every address once, from a position that the id gives: with a tenth of the range free that
 * is ten look-ups, whatever the size of the account.
 */
export function freeAddress(range: Cidr, id: string, isTaken: (text: string) => boolean): string | undefined {
  const bits = BigInt((range.family === 4 ? 32 : 128) - range.prefix);
  // The first and the last address of a range belong to no peer.
  const size = (1n << bits) - 2n;
  if (size < 1n) return undefined;
  const seed = BigInt(`0x${sha256(id)}`);
  const step = strideFor(size, seed >> 128n);
  const most = size < mostProbes ? size : mostProbes;
  for (let probe = 0n; probe < most; probe += 1n) {
    const text = textOf(range, 1n + ((seed + probe * step) % size));
    if (!isTaken(text)) return text;
  }
  return undefined;
}

/** A /16 is walked as a whole; in a larger range so many misses in a row do not happen. */
const mostProbes = 1n << 17n;

/** A step that shares no divisor with the size, so that the walk meets every address. */
function strideFor(size: bigint, seed: bigint): bigint {
  for (let step = (seed % size) | 1n; ; step += 2n) if (greatestDivisor(step, size) === 1n) return step;
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestDivisor(b, a % b);
}

function textOf({ family, address }: Cidr, offset: bigint): string {
  return family === 4 ? formatIpv4(address + offset) : formatIpv6(address + offset);
}

/** The address at the same place in another range, if it has that place; ends of ranges are no places. */
export function movedAddress(was: Cidr, range: Cidr, text: string): string | undefined {
  const address: Address | undefined = parseAddress(text);
  if (address === undefined || address.family !== range.family) return undefined;
  const offset = address.address - was.address;
  const size = 1n << BigInt((range.family === 4 ? 32 : 128) - range.prefix);
  return offset > 0n && offset < size - 1n ? textOf(range, offset) : undefined;
}

/** Whether a peer may have the address in a range. */
export function isPlaceIn(range: Cidr, text: string): boolean {
  return movedAddress(range, range, text) !== undefined;
}

/** The spec of a peer with this IPv6 address, or without one. */
export function withIpv6({ ipv6: _, ...spec }: JsonObject, ipv6: string): JsonObject {
  return ipv6 === '' ? spec : { ...spec, ipv6 };
}

/** Whether a peer gets an IPv6 address: one of its groups has them. `groups` are those that it is about to join. */
export function hasIpv6(
  account: Stored<'Account'> | undefined,
  peer: string,
  state: State,
  groups: readonly string[] = [],
): boolean {
  if (account === undefined) return false;
  const enabled = listed(account.spec.settings?.ipv6_enabled_groups);
  return enabled.some((id) => {
    const group = state.find('Group', id);
    return group !== undefined && (groups.includes(id) || holdsPeer(group, peer));
  });
}

/** Whether an address is taken: by a peer, or by a proxy. */
export function isTakenIn(state: State, field: AddressField): (text: string) => boolean {
  return (text) =>
    state.holderOf('Peer', field, text) !== undefined || state.holderOf('ProxyPeer', field, text) !== undefined;
}

/** The texts of a list in JSON. */
export function listed(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
