import { domainToAscii, domainToUnicodeText } from '../node-pure.ts';

/** What a domain name may contain in addition to the characters of host names. */
export interface DomainOptions {
  /** Whether `*.` is accepted at the start. */
  readonly wildcard?: boolean;
  /** Whether underscores are accepted, as in record names such as `_sip._tcp.example.com`. */
  readonly underscore?: boolean;
}

const maxNameLength = 253;
const maxLabelLength = 63;
const nameCharacters = /^[a-z\d._-]*$/;

/**
 * Returns the canonical spelling of a domain name: lower case, punycode, no trailing dot. Returns `undefined` when the
 * text is not a domain name.
 */
export function canonicalDomain(text: string, options: DomainOptions = {}): string | undefined {
  const wildcard = options.wildcard === true && text.startsWith('*.');
  const name = toAscii(wildcard ? text.slice(2) : text).replace(/\.$/, '');
  const labels = name.split('.');
  if (!labels.every((label) => isLabel(label, options.underscore === true))) return undefined;
  if (isNumber(labels.at(-1) ?? '')) return undefined;
  const canonical = wildcard ? `*.${name}` : name;
  return canonical.length <= maxNameLength ? canonical : undefined;
}

/** Checks whether a canonical name is the domain itself or a name below it. */
export function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`);
}

/** Returns a canonical name as users write it, with punycode labels in Unicode. */
export function unicodeDomain(canonical: string): string {
  if (canonical.startsWith('*.')) return `*.${unicodeDomain(canonical.slice(2))}`;
  return canonical.includes('xn--') ? domainToUnicodeText(canonical) || canonical : canonical;
}

/**
 * Converts to punycode. Calls `domainToASCII` only for names that need it, because it does more: it percent-decodes,
 * drops tabs and reads `0x7f.1` as an address. Names longer than any valid name are not passed to it either.
 */
function toAscii(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length > maxNameLength + 1) return '';
  if (nameCharacters.test(lower)) return lower.includes('xn--') ? domainToAscii(lower) : lower;
  const ascii = [...lower].filter((character) => character < '\u0080').join('');
  return nameCharacters.test(ascii) ? domainToAscii(lower) : '';
}

function isLabel(label: string, underscore: boolean): boolean {
  if (label.length > maxLabelLength || label.startsWith('-') || label.endsWith('-')) return false;
  return underscore ? /^[a-z\d_-]+$/.test(label) : /^[a-z\d-]+$/.test(label);
}

/** A name whose last label is a number is an IP address, or may be read as one by other programs. */
function isNumber(label: string): boolean {
  return /^(\d+|0x[\da-f]*)$/.test(label);
}
