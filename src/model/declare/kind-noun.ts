/** Abbreviations that names of kinds write like words. */
const abbreviations: Readonly<Record<string, string>> = { Edr: 'EDR', Scim: 'SCIM' };

/**
 * Returns the words for an object of a kind in messages: `setup key` for `SetupKey`, `DNS record` for `DNSRecord`, `EDR
 * vendor D` for `EdrVendorD`.
 */
export function nounOf(kind: string): string {
  const words = kind.match(/[A-Z]+(?![a-z])|[A-Z][a-z]+/g) ?? [kind];
  return words.map((word) => abbreviations[word] ?? (/^[A-Z]+$/.test(word) ? word : word.toLowerCase())).join(' ');
}
