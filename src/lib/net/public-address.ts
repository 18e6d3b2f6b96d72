import { type Address, type Cidr, contains, parseAddress, parseCidr } from './address.ts';

/** What requests may reach although it is not public: ranges of addresses, and hosts by name whatever they resolve to. */
export interface AllowList {
  readonly ranges: readonly Cidr[];
  /** In lower case. */
  readonly hosts: ReadonlySet<string>;
}

/** The allow list that allows nothing. */
export const nothingAllowed: AllowList = { ranges: [], hosts: new Set() };

/** Ranges that lead somewhere else than to a public host, the most specific first. */
const special = (
  [
    ['0.0.0.0/8', 'an address of this host'],
    ['10.0.0.0/8', 'a private address'],
    ['100.64.0.0/10', 'a shared address, as meshes and carriers use'],
    ['127.0.0.0/8', 'a loopback address'],
    ['169.254.0.0/16', 'a link-local address'],
    ['172.16.0.0/12', 'a private address'],
    ['192.0.0.0/24', 'a reserved address'],
    ['192.0.2.0/24', 'an address of documentation'],
    ['192.88.99.0/24', 'an address of 6to4 relays'],
    ['192.168.0.0/16', 'a private address'],
    ['198.18.0.0/15', 'an address of benchmarks'],
    ['198.51.100.0/24', 'an address of documentation'],
    ['203.0.113.0/24', 'an address of documentation'],
    ['224.0.0.0/4', 'a multicast address'],
    ['240.0.0.0/4', 'a reserved address'],
    ['::/128', 'an address of this host'],
    ['::1/128', 'a loopback address'],
    ['::ffff:0.0.0.0/96', 'an IPv4 address written as IPv6'],
    ['64:ff9b::/96', 'an IPv4 address behind NAT64'],
    ['64:ff9b:1::/48', 'an IPv4 address behind NAT64'],
    ['2001::/23', 'a reserved address'],
    ['2001:db8::/32', 'an address of documentation'],
    ['2002::/16', 'an IPv4 address behind 6to4'],
    ['3fff::/20', 'an address of documentation'],
    ['fc00::/7', 'a unique-local address'],
    ['fe80::/10', 'a link-local address'],
    ['ff00::/8', 'a multicast address'],
  ] as const
).map(([range, name]) => ({ range: rangeOf(range), name }));

/** Where public addresses of IPv6 are; everything else of it is reserved. */
const publicV6 = rangeOf('2000::/3');

/** What an address is when it leads to no public host, such as `a loopback address`; `undefined` for a public one. */
export function notPublic(text: string): string | undefined {
  const address = parseAddress(text);
  // A zone, such as that of fe80::1%eth0, or nothing that is known.
  if (address === undefined) return 'no plain address';
  const found = special.find(({ range }) => contains(range, address));
  if (found !== undefined) return found.name;
  return address.family === 6 && !contains(publicV6, address) ? 'a reserved address' : undefined;
}

/** Whether a host may be reached at an address. */
export function isAllowed({ ranges, hosts }: AllowList, host: string, address: string): boolean {
  if (hosts.has(plainHost(host)) || notPublic(address) === undefined) return true;
  const parsed = parseAddress(address);
  return parsed !== undefined && holds(ranges, parsed);
}

/** Whether a list names a host, or the address that the host is. */
export function namesHost({ ranges, hosts }: AllowList, host: string): boolean {
  const address = parseAddress(plainHost(host));
  return hosts.has(plainHost(host)) || (address !== undefined && holds(ranges, address));
}

/** A host as names are compared: lower case, without the brackets of an IPv6 address and the dot at the end. */
export function plainHost(host: string): string {
  const plain = host.toLowerCase();
  return plain.startsWith('[') && plain.endsWith(']') ? plain.slice(1, -1) : plain.replace(/\.$/, '');
}

/** Reads an allow list: addresses, ranges and host names. The first entry that is none of them is what is wrong. */
export function parseAllowList(entries: readonly string[]): AllowList | { readonly wrong: string } {
  const ranges: Cidr[] = [];
  const hosts = new Set<string>();
  for (const entry of entries) {
    const address = parseAddress(entry);
    const range = parseCidr(address === undefined ? entry : `${entry}/${address.family === 4 ? 32 : 128}`);
    if (range.ok) ranges.push(range.cidr);
    else if (isHostName(entry)) hosts.add(plainHost(entry));
    else return { wrong: entry };
  }
  return { ranges, hosts };
}

/** Names only: digits and dots alone would be an address, which has to be written as one. */
function isHostName(text: string): boolean {
  return text.length <= 253 && /^(?!-)[a-z\d_-]+(\.[a-z\d_-]+)*\.?$/i.test(text) && /[a-z]/i.test(text);
}

function holds(ranges: readonly Cidr[], address: Address): boolean {
  return ranges.some((range) => contains(range, address));
}

function rangeOf(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new Error(`${text} is not a range`);
  return parsed.cidr;
}
