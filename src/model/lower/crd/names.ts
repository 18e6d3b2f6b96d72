/** The plural of a kind as resource names and URLs spell it: `policies`, `setupkeys`, `dnszones`. */
export function pluralOf(name: string): string {
  return pluralWord(name).toLowerCase();
}

/** The plural of a kind in its own spelling: `Policies`, `DNSZones`; settings are many already. */
export function pluralWord(name: string): string {
  if (name.endsWith('Settings')) return name;
  return /[^aeiou]y$/.test(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}
