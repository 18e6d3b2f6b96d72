import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from './address-text.ts';

/** An IP address as a number, with its canonical text. */
export interface Address {
  readonly family: 4 | 6;
  readonly address: bigint;
  readonly text: string;
}

/** A range of addresses. `address` is the first one. */
export interface Cidr extends Address {
  readonly prefix: number;
}

/** A CIDR, or the reason why the text is not one. `masked` is the range that was probably meant. */
export type CidrResult =
  | { readonly ok: true; readonly cidr: Cidr }
  | { readonly ok: false; readonly fault: 'malformed' }
  | { readonly ok: false; readonly fault: 'host_bits'; readonly masked: string };

/** Parses an IPv4 address (strict dotted quad) or an IPv6 address (any spelling, no zone). */
export function parseAddress(text: string): Address | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { family: 4, address: v4, text: formatIpv4(v4) };
  const v6 = parseIpv6(text);
  if (v6 !== undefined) return { family: 6, address: v6, text: formatIpv6(v6) };
  return undefined;
}

/** Returns the canonical spelling of an address: dotted quad, or RFC 5952. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.text;
}

/** Returns the canonical spelling of a client's address. An IPv4-mapped IPv6 address becomes IPv4. */
export function unmappedAddress(text: string): string | undefined {
  const parsed = parseAddress(text);
  const isMapped = parsed?.family === 6 && parsed.address >> 32n === 0xffffn;
  return isMapped ? formatIpv4(parsed.address & 0xffff_ffffn) : parsed?.text;
}

/**
 * Returns the unit by which clients are counted: the address for IPv4, the /64 network for IPv6, because one host may
 * use any number of addresses in it.
 */
export function clientNetworkOf(text: string): string {
  const parsed = parseAddress(unmappedAddress(text) ?? text);
  return parsed?.family === 6 ? `${formatIpv6((parsed.address >> 64n) << 64n)}/64` : (parsed?.text ?? text);
}

/** Parses `address/prefix`. Bits set after the prefix are a fault; they are never masked silently. */
export function parseCidr(text: string): CidrResult {
  const [, addressText, prefixText] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const parsed = parseAddress(addressText ?? '');
  const prefix = Number(prefixText);
  if (parsed === undefined || prefix > addressBits(parsed.family)) return { ok: false, fault: 'malformed' };
  const host = BigInt(addressBits(parsed.family) - prefix);
  const first = (parsed.address >> host) << host;
  const cidr = buildCidr(parsed.family, first, prefix);
  return first === parsed.address ? { ok: true, cidr } : { ok: false, fault: 'host_bits', masked: cidr.text };
}

/** Checks whether `outer` contains every address of `inner` (an address or a range). */
export function contains(outer: Cidr, inner: Address | Cidr): boolean {
  if (outer.family !== inner.family || outer.prefix > prefixOf(inner)) return false;
  const host = BigInt(addressBits(outer.family) - outer.prefix);
  return outer.address >> host === inner.address >> host;
}

/** Checks whether two ranges have an address in common. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

function buildCidr(family: 4 | 6, address: bigint, prefix: number): Cidr {
  const text = family === 4 ? formatIpv4(address) : formatIpv6(address);
  return { family, address, prefix, text: `${text}/${prefix}` };
}

function prefixOf(range: Address | Cidr): number {
  return 'prefix' in range ? range.prefix : addressBits(range.family);
}

function addressBits(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}
