import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from './address-text.ts';

/** An IP address as a number, with its canonical text. */
export interface Address {
  readonly family: 4 | 6;
  readonly address: bigint;
  readonly text: string;
}

/** A range of addresses; `address` is its first one. */
export interface Cidr extends Address {
  readonly prefix: number;
}

/** A CIDR, or why the text is none; `masked` is the range that was probably meant. */
export type CidrResult =
  | { readonly ok: true; readonly cidr: Cidr }
  | { readonly ok: false; readonly fault: 'malformed' }
  | { readonly ok: false; readonly fault: 'host_bits'; readonly masked: string };

/** Reads an IPv4 address (strict dotted quad) or an IPv6 address (any spelling, no zone). */
export function parseAddress(text: string): Address | undefined {
  const v4 = parseIpv4(text);
  if (v4 !== undefined) return { family: 4, address: v4, text: formatIpv4(v4) };
  const v6 = parseIpv6(text);
  if (v6 !== undefined) return { family: 6, address: v6, text: formatIpv6(v6) };
  return undefined;
}

/** The one spelling of an address: dotted quad, or RFC 5952. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.text;
}

/** The one spelling of a client's address: IPv4 as such, also where it came written as IPv6. */
export function plainAddress(text: string): string | undefined {
  const parsed = parseAddress(text);
  const isMapped = parsed?.family === 6 && parsed.address >> 32n === 0xffffn;
  return isMapped ? formatIpv4(parsed.address & 0xffff_ffffn) : parsed?.text;
}

/** Who an address belongs to, for counting: one host of IPv4, the /64 of IPv6, in which one host takes as many as it likes. */
export function neighbourhoodOf(text: string): string {
  const parsed = parseAddress(plainAddress(text) ?? text);
  return parsed?.family === 6 ? `${formatIpv6((parsed.address >> 64n) << 64n)}/64` : (parsed?.text ?? text);
}

/** Reads `address/prefix`. Bits set behind the prefix are a fault, never masked silently. */
export function parseCidr(text: string): CidrResult {
  const [, addressText, prefixText] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const parsed = parseAddress(addressText ?? '');
  const prefix = Number(prefixText);
  if (parsed === undefined || prefix > width(parsed.family)) return { ok: false, fault: 'malformed' };
  const host = BigInt(width(parsed.family) - prefix);
  const first = (parsed.address >> host) << host;
  const cidr = buildCidr(parsed.family, first, prefix);
  return first === parsed.address ? { ok: true, cidr } : { ok: false, fault: 'host_bits', masked: cidr.text };
}

/** Whether every address of `inner` (one address or a range) lies in `outer`. */
export function contains(outer: Cidr, inner: Address | Cidr): boolean {
  if (outer.family !== inner.family || outer.prefix > prefixOf(inner)) return false;
  const host = BigInt(width(outer.family) - outer.prefix);
  return outer.address >> host === inner.address >> host;
}

/** Whether two ranges share an address. */
export function overlaps(a: Cidr, b: Cidr): boolean {
  return contains(a, b) || contains(b, a);
}

function buildCidr(family: 4 | 6, address: bigint, prefix: number): Cidr {
  const text = family === 4 ? formatIpv4(address) : formatIpv6(address);
  return { family, address, prefix, text: `${text}/${prefix}` };
}

function prefixOf(range: Address | Cidr): number {
  return 'prefix' in range ? range.prefix : width(range.family);
}

function width(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}
