import type { FlagValues } from '../../config.ts';
import { quoteShellWord } from '../../lib/shell-word.ts';

/** Returns the command that repeats an apply. The token is left out, because command lines end up in logs. */
export function applyCommand(paths: readonly string[], flags: FlagValues): string {
  const { token: _, json: __, approve: ___, out: ____, format: _____, ...again } = flags;
  return commandLine(['heddle', 'apply', ...paths], again);
}

function commandLine(words: readonly string[], flags: FlagValues): string {
  const stated = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return (typeof value === 'string' ? [value] : value).flatMap((text) => [`--${name}`, text]);
  });
  return [...words, ...stated].map(quoteShellWord).join(' ');
}
