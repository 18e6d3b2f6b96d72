import { type Environment, readConfig } from '../config.ts';
import { guessHint, parseArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { commandNames, loadCommand } from './commands.ts';
import { exit } from './exit.ts';
import { failureDocument, reportFailure, writeJson } from './failure.ts';
import { flagsOf } from './flags.ts';
import { knownFormat } from './formats.ts';
import { commandHelp, programHelp, usageOf } from './help.ts';
import type { StartServer } from './server/serve.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What the program uses of its process: the environment, the terminal, and a function that starts a server. */
export interface ProgramOptions {
  readonly env: Environment;
  readonly terminal: Terminal;
  readonly startServer: StartServer;
}

/** Runs one command line and returns the exit code. Never throws. */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<number> {
  const { terminal, startServer } = options;
  const [first] = argv;
  if (first === undefined || first === '--help' || first === '-h' || (first === 'help' && argv.length === 1)) {
    // Only the help needs the list, and every command would load it.
    const { commandList } = await import('./command-list.ts');
    const help = programHelp(commandList);
    if (first !== undefined) terminal.out(help);
    else terminal.note(help);
    return first === undefined ? exit.error : exit.ok;
  }
  if (first === 'help') return runProgram([...argv.slice(1), '--help'], options);
  if (first === '--version') return runProgram(['version', ...argv.slice(1)], options);
  const found = findCommand(argv);
  if (typeof found === 'string') {
    if (argv.includes('--json')) writeJson(terminal, failureDocument(found, exit.error));
    terminal.note(`${terminal.notePaint('error', 'error:')} ${found}\n\`heddle --help\` lists the commands.\n`);
    return exit.error;
  }
  return runCommand(await loadCommand(found.name, startServer), found.rest, options);
}

interface Found {
  readonly name: string;
  readonly rest: readonly string[];
}

/** Returns the command that the first words name and the remaining words, or a message about what is wrong. */
function findCommand(argv: readonly string[]): Found | string {
  for (const name of commandNames) {
    const words = name.split(' ');
    if (words.every((word, at) => argv[at] === word)) return { name, rest: argv.slice(words.length) };
  }
  const [first = ''] = argv;
  const typed = wordsOf(argv);
  // The longest sequence of typed words with which a command name begins.
  const known = typed.map((_, at) => typed.slice(0, typed.length - at).join(' ')).find(isCommandPrefix);
  const below = commandNames.filter((name) => name.startsWith(`${known} `));
  const next = argv[known?.split(' ').length ?? 0];
  const asked = next === '--help' || next === '-h';
  const [only] = below;
  if (only !== undefined && asked) return { name: only, rest: ['--help'] };
  if (below.length > 0)
    return `\`heddle ${known}\` needs one more word: ${below.map((name) => `heddle ${name}`).join(', ')}`;
  if (first.startsWith('-')) return `unknown flag ${first}; flags come after the command`;
  return `unknown command \`${first}\`${guessHint(first, commandNames)}`;
}

function wordsOf(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'));
  return end < 0 ? argv : argv.slice(0, end);
}

function isCommandPrefix(words: string): boolean {
  return commandNames.some((name) => name.startsWith(`${words} `));
}

async function runCommand(
  command: Command,
  argv: readonly string[],
  { env, terminal }: ProgramOptions,
): Promise<number> {
  const json = Object.hasOwn(flagsOf(command), 'json') && argv.includes('--json');
  const parsed = parseArguments(command, argv);
  if (!parsed.ok) return refuse(command, [parsed.message], json, terminal);
  const { flags, positionals } = parsed;
  if (flags['help'] === true) {
    terminal.out(commandHelp(command));
    return exit.ok;
  }
  const read = readConfig(env, flags, command.settings);
  if (!read.ok) return refuse(command, read.faults, json, terminal);
  try {
    return await command.run({ flags, positionals, config: read.config, terminal });
  } catch (error) {
    return reportFailure(terminal, error, json ? 'json' : knownFormat(flags));
  }
}

/** Prints every fault of the command line or settings, and how to call the command. Returns exit code 1. */
function refuse(command: Command, faults: readonly string[], json: boolean, terminal: Terminal): number {
  if (json) writeJson(terminal, failureDocument(faults.join(' '), exit.error));
  for (const fault of faults) terminal.note(`${terminal.notePaint('error', 'error:')} ${fault}\n`);
  terminal.note(`Usage: ${usageOf(command)}\n\`heddle ${command.name} --help\` explains it.\n`);
  return exit.error;
}
