/** Parses a dotted quad. Leading zeros are refused, because some programs read such numbers as octal. */
export function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let value = 0n;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    value = (value << 8n) | BigInt(part);
  }
  return value;
}

/** Parses any spelling of RFC 4291: `::` once, upper case, leading zeros, an IPv4 tail. Zones are refused. */
export function parseIpv6(text: string): bigint | undefined {
  const parts = text.split('::');
  const head = parseGroups(parts[0] ?? '', parts.length === 1);
  const tail = parseGroups(parts[1] ?? '', true);
  if (parts.length > 2 || head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (parts.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...Array<bigint>(missing).fill(0n), ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

/** Formats a 32-bit number as a dotted quad. */
export function formatIpv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

/**
 * Formats a 128-bit number as in RFC 5952: lower case, the longest run of zero groups as `::`, IPv4-mapped addresses
 * with a dotted quad.
 */
export function formatIpv6(value: bigint): string {
  if (value >> 32n === 0xffffn) return `::ffff:${formatIpv4(value & 0xffffffffn)}`;
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const run = longestZeroRun(groups);
  if (run.length < 2) return groups.join(':');
  return `${groups.slice(0, run.start).join(':')}::${groups.slice(run.start + run.length).join(':')}`;
}

/** Parses the groups on one side of `::`. Only the end of the address may be an IPv4 tail. */
function parseGroups(text: string, mayEndInIpv4: boolean): bigint[] | undefined {
  if (text === '') return [];
  const groups: bigint[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    const quad = mayEndInIpv4 && index === parts.length - 1 ? parseIpv4(part) : undefined;
    if (quad !== undefined) groups.push(quad >> 16n, quad & 0xffffn);
    else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}

function longestZeroRun(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === '0' ? length + 1 : 0;
    if (length > longest.length) longest = { start: index - length + 1, length };
  }
  return longest;
}
