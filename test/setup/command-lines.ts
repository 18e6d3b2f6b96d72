import { parseArguments } from '../../src/cli/arguments.ts';
import type { Command } from '../../src/cli/command.ts';
import { allCommands } from '../../src/cli/commands.ts';

const commands = await allCommands(() => Promise.reject(new Error('nothing is started here')));

/** Returns the calls of `heddle` in a shell script, each as its arguments without quotes. */
export function heddleCalls(script: string): readonly (readonly string[])[] {
  return simpleCommands(script).flatMap((words) => {
    const first = words.findIndex((word) => !isInFront(word));
    return words[first] === 'heddle' ? [words.slice(first + 1)] : [];
  });
}

/**
 * Returns the reason why the program would reject a call, with the program's own message. `undefined` when the call is
 * valid.
 */
export function callFault(words: readonly string[]): string | undefined {
  const command = commandOf(words);
  if (command === undefined) return `there is no command in: heddle ${words.join(' ')}`;
  const parsed = parseArguments(command, words.slice(command.name.split(' ').length));
  return parsed.ok ? undefined : `heddle ${words.join(' ')}: ${parsed.message}`;
}

function commandOf(words: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, at) => words[at] === word));
}

/** Whether a word may precede a command. */
function isInFront(word: string): boolean {
  return ['if', 'then', 'else', 'do', '!', 'npx', 'exec', '-'].includes(word) || /^\w+=/.test(word);
}

const quoted = String.raw`"(?:[^"\\]|\\.)*"|'[^']*'|\$\{\{.*?\}\}`;
const tokens = new RegExp(
  String.raw`(?<skip>\\\n|[ \t]+|#[^\n]*|\d?[<>]+&?\s*[^\s;|&)]*)|(?<word>(?:${quoted}|[^\s"';|&()<>])+)|(?<end>.)`,
  'gs',
);

/** Splits a script into simple commands. Supports as much shell syntax as the recipes in the documentation need. */
function simpleCommands(script: string): readonly (readonly string[])[] {
  const found: string[][] = [[]];
  for (const { groups } of script.matchAll(tokens)) {
    if (groups?.['word'] !== undefined) found.at(-1)?.push(groups['word'].replace(/["']/g, ''));
    else if (groups?.['end'] !== undefined) found.push([]);
  }
  return found;
}
