import { parseArgs } from 'node:util';
import type { FlagValues } from '../config.ts';
import { nearest } from '../lib/nearest.ts';
import type { Command, Flag, Flags } from './command.ts';
import { flagsOf } from './flags.ts';

/** Parsed command line of one command, or a message about what is wrong with it. */
export type ArgumentsResult =
  | { readonly ok: true; readonly flags: FlagValues; readonly positionals: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Parses the words after the name of a command. */
export function parseArguments(command: Command, argv: readonly string[]): ArgumentsResult {
  const flags: Flags = { ...flagsOf(command), help: { doc: '' } };
  const { tokens, values, positionals } = parseArgs({
    args: [...argv],
    options: optionsOf(flags),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const message = faultOf(flags, token) ?? repeatFault(flags, token, seen);
    if (message !== undefined) return { ok: false, message };
  }
  // Without `strict`, the types allow a list for a switch. The check of the tokens ruled that out.
  const given = values;
  const message = given['help'] === true ? undefined : positionalFault(command, positionals);
  return message === undefined ? { ok: true, flags: given, positionals } : { ok: false, message };
}

/**
 * Returns the name most similar to `word` as the end of a sentence: `; did you mean …?`. Returns an empty text when
 * none is similar.
 */
export function guessHint(word: string, names: Iterable<string>, prefix = ''): string {
  const guess = nearest(word, names);
  return guess === undefined ? '' : `; did you mean ${prefix}${guess}?`;
}

function optionsOf(flags: Flags) {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      {
        type: flag.placeholder === undefined ? ('boolean' as const) : ('string' as const),
        ...(flag.multiple === true ? { multiple: true } : {}),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function faultOf(flags: Flags, token: OptionToken): string | undefined {
  const flag: Flag | undefined = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
  if (flag === undefined) return `unknown flag ${token.rawName}${guessHint(token.name, Object.keys(flags), '--')}`;
  if (flag.placeholder === undefined) return token.value === undefined ? undefined : `${token.rawName} takes no value`;
  const missing = token.value === undefined || token.value === '';
  const swallowed = token.inlineValue === false && token.value?.startsWith('-') === true;
  return missing || swallowed ? `${token.rawName} needs a value: ${token.rawName} ${flag.placeholder}` : undefined;
}

function repeatFault(flags: Flags, { name, rawName }: OptionToken, seen: Set<string>): string | undefined {
  const { placeholder, multiple } = flags[name] ?? {};
  if (seen.has(name) && placeholder !== undefined && multiple !== true) return `${rawName} is given twice; keep one`;
  seen.add(name);
  return undefined;
}

function positionalFault(command: Command, positionals: readonly string[]): string | undefined {
  const { argument } = command;
  if (argument === undefined) {
    return positionals.length === 0
      ? undefined
      : `\`${positionals[0]}\` is one word too many: the command takes no arguments`;
  }
  const { placeholder, doc, least = 1, most = positionals.length } = argument;
  if (positionals.length < least) return `${placeholder} is missing: ${doc}`;
  return positionals.length <= most ? undefined : `\`${positionals[most]}\` is one word too many; write ${placeholder}`;
}
