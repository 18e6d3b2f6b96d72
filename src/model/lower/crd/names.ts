/** Returns the plural of a kind in lower case, as in resource names and URLs: `policies`, `setupkeys`, `dnszones`. */
export function pluralOf(name: string): string {
  return pluralWord(name).toLowerCase();
}

/**
 * Returns the plural of a kind in its own spelling: `Policies`, `DNSZones`. A name that ends with `Settings` is already
 * plural.
 */
export function pluralWord(name: string): string {
  if (name.endsWith('Settings')) return name;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}
