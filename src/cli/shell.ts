import type { FlagValues } from '../config.ts';

/** A command line that can be copied into a shell. */
export function commandLine(words: readonly string[], flags: FlagValues): string {
  const stated = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return (typeof value === 'string' ? [value] : value).flatMap((text) => [`--${name}`, text]);
  });
  return [...words, ...stated].map(quote).join(' ');
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
