import { type Address, type Cidr, contains, parseAddress, parseCidr } from './address.ts';

/**
 * Non-public targets that outbound requests may reach: ranges of addresses, and host names whatever address they
 * resolve to.
 */
export interface AllowList {
  readonly ranges: readonly Cidr[];
  /** Host names, in lower case. */
  readonly hosts: ReadonlySet<string>;
}

/** An empty allow list. */
export const emptyAllowList: AllowList = { ranges: [], hosts: new Set() };

/** Ranges of addresses that are not public hosts, most specific first. */
const specialRanges = (
  [
    ['0.0.0.0/8', 'an address of this host'],
    ['10.0.0.0/8', 'a private address'],
    ['100.64.0.0/10', 'a shared address, as used by meshes and carriers'],
    ['127.0.0.0/8', 'a loopback address'],
    ['169.254.0.0/16', 'a link-local address'],
    ['172.16.0.0/12', 'a private address'],
    ['192.0.0.0/24', 'a reserved address'],
    ['192.0.2.0/24', 'a documentation address'],
    ['192.88.99.0/24', 'an address of a 6to4 relay'],
    ['192.168.0.0/16', 'a private address'],
    ['198.18.0.0/15', 'a benchmark address'],
    ['198.51.100.0/24', 'a documentation address'],
    ['203.0.113.0/24', 'a documentation address'],
    ['224.0.0.0/4', 'a multicast address'],
    ['240.0.0.0/4', 'a reserved address'],
    ['::/128', 'an address of this host'],
    ['::1/128', 'a loopback address'],
    ['::ffff:0.0.0.0/96', 'an IPv4-mapped IPv6 address'],
    ['64:ff9b::/96', 'an IPv4 address behind NAT64'],
    ['64:ff9b:1::/48', 'an IPv4 address behind NAT64'],
    ['2001::/23', 'a reserved address'],
    ['2001:db8::/32', 'a documentation address'],
    ['2002::/16', 'an IPv4 address behind 6to4'],
    ['3fff::/20', 'a documentation address'],
    ['fc00::/7', 'a unique-local address'],
    ['fe80::/10', 'a link-local address'],
    ['ff00::/8', 'a multicast address'],
  ] as const
).map(([range, name]) => ({ range: parseRange(range), name }));

/** Range of public IPv6 addresses. All other IPv6 addresses are reserved. */
const publicV6 = parseRange('2000::/3');

/** Describes an address that is not public, such as `a loopback address`. Returns `undefined` for a public address. */
export function describeNonPublic(text: string): string | undefined {
  const address = parseAddress(text);
  // The text has a zone, as in fe80::1%eth0, or is not an address.
  if (address === undefined) return 'not a plain IP address';
  const found = specialRanges.find(({ range }) => contains(range, address));
  if (found !== undefined) return found.name;
  return address.family === 6 && !contains(publicV6, address) ? 'a reserved address' : undefined;
}

/**
 * Checks whether a request to a host may connect to the address: the address is public, or the allow list contains it
 * or the host.
 */
export function isAllowed({ ranges, hosts }: AllowList, host: string, address: string): boolean {
  if (hosts.has(normalizeHost(host)) || describeNonPublic(address) === undefined) return true;
  const parsed = parseAddress(address);
  return parsed !== undefined && rangesContain(ranges, parsed);
}

/** Checks whether an allow list contains a host name, or the address when the host is an address. */
export function containsHost({ ranges, hosts }: AllowList, host: string): boolean {
  const address = parseAddress(normalizeHost(host));
  return hosts.has(normalizeHost(host)) || (address !== undefined && rangesContain(ranges, address));
}

/** Normalizes a host for comparison: lower case, without the brackets of an IPv6 address or a trailing dot. */
export function normalizeHost(host: string): string {
  const plain = host.toLowerCase();
  return plain.startsWith('[') && plain.endsWith(']') ? plain.slice(1, -1) : plain.replace(/\.$/, '');
}

/**
 * Parses an allow list of addresses, ranges and host names. Returns the first entry that is none of these as `wrong`.
 */
export function parseAllowList(entries: readonly string[]): AllowList | { readonly wrong: string } {
  const ranges: Cidr[] = [];
  const hosts = new Set<string>();
  for (const entry of entries) {
    const address = parseAddress(entry);
    const range = parseCidr(address === undefined ? entry : `${entry}/${address.family === 4 ? 32 : 128}`);
    if (range.ok) ranges.push(range.cidr);
    else if (isHostName(entry)) hosts.add(normalizeHost(entry));
    else return { wrong: entry };
  }
  return { ranges, hosts };
}

/** Checks for a host name. Digits and dots alone are refused, because such a text is a misspelled address. */
function isHostName(text: string): boolean {
  return text.length <= 253 && /^(?!-)[a-z\d_-]+(\.[a-z\d_-]+)*\.?$/i.test(text) && /[a-z]/i.test(text);
}

function rangesContain(ranges: readonly Cidr[], address: Address): boolean {
  return ranges.some((range) => contains(range, address));
}

function parseRange(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(`${text} is not a range`);
  return parsed.cidr;
}
