import type { Json, JsonObject } from '../../lib/json.ts';
import { type Address, type Cidr, parseAddress, parseCidr } from '../../lib/net/address.ts';
import { formatIpv4, formatIpv6 } from '../../lib/net/address-text.ts';
import { sha256 } from '../../lib/node-pure.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';
import { holdsPeer } from './membership.ts';

/** The two addresses that a peer may have. */
export type AddressField = 'ip' | 'ipv6';

/** Settings with the range of each address field. */
const rangeSettings = { ip: 'network_range', ipv6: 'network_range_v6' } as const;

type Ranges = { readonly [Field in AddressField]: Cidr | undefined };

const rangeCache = new WeakMap<Stored<'Account'>, Ranges>();

/**
 * Returns the range from which peers get addresses, if there is one. Parsed once per account object, because every
 * enrolment needs it.
 */
export function rangeOf(account: Stored<'Account'> | undefined, field: AddressField): Cidr | undefined {
  if (account === undefined) return undefined;
  const ranges = rangeCache.get(account) ?? { ip: readRange(account, 'ip'), ipv6: readRange(account, 'ipv6') };
  rangeCache.set(account, ranges);
  return ranges[field];
}

function readRange(account: Stored<'Account'>, field: AddressField): Cidr | undefined {
  const text = account.spec.settings?.[rangeSettings[field]];
  const read = typeof text === 'string' ? parseCidr(text) : undefined;
  return read?.ok === true ? read.cidr : undefined;
}

/**
 * Returns a free address of a range, or `undefined` when none was found. The id of the object determines where the
 * search starts. It proceeds in steps that visit every address once: with a tenth of the range free it takes about ten
 * look-ups, whatever the size of the account.
 */
export function findFreeAddress(range: Cidr, id: string, isTaken: (text: string) => boolean): string | undefined {
  const bits = BigInt((range.family === 4 ? 32 : 128) - range.prefix);
  // The first and the last address of a range are never given to a peer.
  const size = (1n << bits) - 2n;
  if (size < 1n) return undefined;
  const seed = BigInt(`0x${sha256(id)}`);
  const step = strideFor(size, seed >> 128n);
  const most = size < maxProbes ? size : maxProbes;
  for (let probe = 0n; probe < most; probe += 1n) {
    const text = textOf(range, 1n + ((seed + probe * step) % size));
    if (!isTaken(text)) return text;
  }
  return undefined;
}

/** Maximum number of look-ups. It covers a whole /16. In a larger range so many misses in a row do not occur. */
const maxProbes = 1n << 17n;

/** Returns a step that has no common divisor with the size, so that the search visits every address. */
function strideFor(size: bigint, seed: bigint): bigint {
  for (let step = (seed % size) | 1n; ; step += 2n) if (greatestDivisor(step, size) === 1n) return step;
}

function greatestDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestDivisor(b, a % b);
}

function textOf({ family, address }: Cidr, offset: bigint): string {
  return family === 4 ? formatIpv4(address + offset) : formatIpv6(address + offset);
}

/**
 * Returns the address with the same offset in another range, or `undefined` when that range has no such offset. The
 * first and the last address of a range are excluded.
 */
export function moveToRange(was: Cidr, range: Cidr, text: string): string | undefined {
  const address: Address | undefined = parseAddress(text);
  if (address === undefined || address.family !== range.family) return undefined;
  const offset = address.address - was.address;
  const size = 1n << BigInt((range.family === 4 ? 32 : 128) - range.prefix);
  return offset > 0n && offset < size - 1n ? textOf(range, offset) : undefined;
}

/** Whether a range contains an address that peers may have. */
export function isAssignableIn(range: Cidr, text: string): boolean {
  return moveToRange(range, range, text) !== undefined;
}

/** Returns the spec of a peer with an IPv6 address, or without one when it is empty. */
export function withIpv6({ ipv6: _, ...spec }: JsonObject, ipv6: string): JsonObject {
  return ipv6 === '' ? spec : { ...spec, ipv6 };
}

/**
 * Whether a peer gets an IPv6 address, because one of its groups has IPv6. `groups` are groups that it is about to
 * join.
 */
export function hasIpv6(
  account: Stored<'Account'> | undefined,
  peer: string,
  state: State,
  groups: readonly string[] = [],
): boolean {
  if (account === undefined) return false;
  const enabled = textsIn(account.spec.settings?.ipv6_enabled_groups);
  return enabled.some((id) => {
    const group = state.find('Group', id);
    return group !== undefined && (groups.includes(id) || holdsPeer(group, peer));
  });
}

/** Returns a function that tests whether a peer or a proxy has an address. */
export function createTakenCheck(state: State, field: AddressField): (text: string) => boolean {
  return (text) =>
    state.findByUnique('Peer', field, text) !== undefined || state.findByUnique('ProxyPeer', field, text) !== undefined;
}

/** Returns the strings of a JSON list, empty for any other value. */
export function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
