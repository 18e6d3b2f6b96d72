import { domainToAscii, domainToUnicodeText } from '../node-pure.ts';

/** What a domain name may contain beyond host names. */
export interface DomainOptions {
  /** Accept `*.` in front. */
  readonly wildcard?: boolean;
  /** Accept underscores, as record names such as `_sip._tcp.example.com` have them. */
  readonly underscore?: boolean;
}

const longestName = 253;
const longestLabel = 63;
const nameCharacters = /^[a-z\d._-]*$/;

/** The one spelling of a domain name: lower case, punycode, no trailing dot. `undefined` when it is not a domain name. */
export function canonicalDomain(text: string, options: DomainOptions = {}): string | undefined {
  const wildcard = options.wildcard === true && text.startsWith('*.');
  const name = toAscii(wildcard ? text.slice(2) : text).replace(/\.$/, '');
  const labels = name.split('.');
  if (!labels.every((label) => isLabel(label, options.underscore === true))) return undefined;
  if (isNumber(labels.at(-1) ?? '')) return undefined;
  const canonical = wildcard ? `*.${name}` : name;
  return canonical.length <= longestName ? canonical : undefined;
}

/** Whether a canonical name is the domain itself or below it. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** The canonical name as people write it: punycode labels in Unicode. */
export function unicodeDomain(canonical: string): string {
  if (canonical.startsWith('*.')) return `*.${unicodeDomain(canonical.slice(2))}`;
  return canonical.includes('xn--') ? domainToUnicodeText(canonical) || canonical : canonical;
}

/**
 * Only names that need it see `domainToASCII`, because it does more than punycode: it percent-decodes, drops tabs and
 * reads `0x7f.1` as an address. Names longer than any valid one do not reach it either.
 */
function toAscii(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length > longestName + 1) return '';
  if (nameCharacters.test(lower)) return lower.includes('xn--') ? domainToAscii(lower) : lower;
  const ascii = [...lower].filter((character) => character < '\u0080').join('');
  return nameCharacters.test(ascii) ? domainToAscii(lower) : '';
}

function isLabel(label: string, underscore: boolean): boolean {
  if (label.length > longestLabel || label.startsWith('-') || label.endsWith('-')) return false;
  return underscore ? /^[a-z\d_-]+$/.test(label) : /^[a-z\d-]+$/.test(label);
}

/** A name that ends in a number is an address, or something that other programs take for one. */
function isNumber(label: string): boolean {
  return /^(\d+|0x[\da-f]*)$/.test(label);
}
