import { type Environment, readConfig } from '../config.ts';
import { agentSimulate } from './agent/simulate.ts';
import { apply } from './apply.ts';
import { approve } from './approve.ts';
import { guessHint, parseArguments } from './arguments.ts';
import { backup } from './backup.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { drift } from './drift.ts';
import { exit } from './exit.ts';
import { explainField } from './explain.ts';
import { explainAccess } from './explain-access.ts';
import { exportDocuments } from './export.ts';
import { failureDocument, reportFailure, writeJson } from './failure.ts';
import { flagsOf } from './flags.ts';
import { knownFormat } from './formats.ts';
import { health } from './health.ts';
import { commandHelp, programHelp, usageOf } from './help.ts';
import { history } from './history.ts';
import { idpRotateKeys } from './idp.ts';
import { importObject } from './import.ts';
import { login, logout } from './login.ts';
import { outputs } from './outputs.ts';
import { plan } from './plan.ts';
import { plans } from './plans.ts';
import { proxySimulate } from './proxy/simulate.ts';
import { proxyTokenCreate, proxyTokenList, proxyTokenRevoke } from './proxy/token.ts';
import { reconcile } from './reconcile.ts';
import { restore } from './restore.ts';
import { rollback } from './rollback.ts';
import { schema } from './schema.ts';
import { secretsKey, secretsRotate } from './secrets.ts';
import { type StartServer, serveCommand } from './serve.ts';
import { detach, resume, suspend } from './source-verbs.ts';
import { sources } from './sources.ts';
import { status } from './status.ts';
import type { Terminal } from './terminal.ts';
import { test } from './test.ts';
import { token } from './token.ts';
import { validate } from './validate.ts';
import { version } from './version.ts';

/** What the program runs in. */
export interface Surroundings {
  readonly env: Environment;
  readonly terminal: Terminal;
  readonly startServer: StartServer;
}

/** Every command, in the order of the help text. */
export function commandsOf(startServer: StartServer): readonly Command[] {
  const commands: readonly Command[] = [
    serveCommand(startServer),
    validate,
    test,
    plan,
    apply,
    approve,
    plans,
    outputs,
    exportDocuments,
    importObject,
    drift,
    history,
    rollback,
    backup,
    restore,
    status,
    sources,
    reconcile,
    suspend,
    resume,
    detach,
    login,
    logout,
    health,
    explainField,
    explainAccess,
    schema,
    token,
    secretsKey,
    secretsRotate,
    idpRotateKeys,
    proxyTokenCreate,
    proxyTokenList,
    proxyTokenRevoke,
    proxySimulate,
    agentSimulate,
    completionCommand(() => commands),
    version,
  ];
  return commands;
}

/** Runs one command line and returns the exit code; it never throws. */
export async function runProgram(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const { terminal } = surroundings;
  const commands = commandsOf(surroundings.startServer);
  const [first] = argv;
  if (first === undefined || first === '--help' || first === '-h' || (first === 'help' && argv.length === 1)) {
    if (first !== undefined) terminal.out(programHelp(commands));
    else terminal.note(programHelp(commands));
    return first === undefined ? exit.error : exit.ok;
  }
  if (first === 'help') return runProgram([...argv.slice(1), '--help'], surroundings);
  if (first === '--version') return runProgram(['version', ...argv.slice(1)], surroundings);
  const found = findCommand(commands, argv);
  if (typeof found === 'string') {
    if (argv.includes('--json')) writeJson(terminal, failureDocument(found, exit.error));
    terminal.note(`${terminal.notePaint('error', 'error:')} ${found}\n\`heddle --help\` lists the commands.\n`);
    return exit.error;
  }
  return runCommand(found, surroundings);
}

interface Found {
  readonly command: Command;
  readonly rest: readonly string[];
}

/** The command that the first words name, or what is wrong with them. */
function findCommand(commands: readonly Command[], argv: readonly string[]): Found | string {
  for (const command of commands) {
    const words = command.name.split(' ');
    if (words.every((word, at) => argv[at] === word)) return { command, rest: argv.slice(words.length) };
  }
  const [first = ''] = argv;
  const names = commands.map((command) => command.name);
  const typed = wordsOf(argv);
  // The most words that some command begins with.
  const known = typed
    .map((_, at) => typed.slice(0, typed.length - at).join(' '))
    .find((words) => isBegun(words, names));
  const below = names.filter((name) => name.startsWith(`${known} `));
  const next = argv[known?.split(' ').length ?? 0];
  const asked = next === '--help' || next === '-h';
  const [only] = commands.filter((command) => below.includes(command.name));
  if (only !== undefined && asked) return { command: only, rest: ['--help'] };
  if (below.length > 0)
    return `\`heddle ${known}\` wants one more word: ${below.map((name) => `heddle ${name}`).join(', ')}`;
  if (first.startsWith('-')) return `unknown flag ${first}; flags come after the command`;
  return `unknown command \`${first}\`${guessHint(first, names)}`;
}

function wordsOf(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'));
  return end < 0 ? argv : argv.slice(0, end);
}

function isBegun(words: string, names: readonly string[]): boolean {
  return names.some((name) => name.startsWith(`${words} `));
}

async function runCommand({ command, rest: argv }: Found, { env, terminal }: Surroundings): Promise<number> {
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

/** A command line or a setting is wrong: every fault, how the command is called, and exit code 1. */
function refuse(command: Command, faults: readonly string[], json: boolean, terminal: Terminal): number {
  if (json) writeJson(terminal, failureDocument(faults.join(' '), exit.error));
  for (const fault of faults) terminal.note(`${terminal.notePaint('error', 'error:')} ${fault}\n`);
  terminal.note(`Usage: ${usageOf(command)}\n\`heddle ${command.name} --help\` explains it.\n`);
  return exit.error;
}
