import { settings } from '../config.ts';
import type { Command, ListedCommand } from './command.ts';
import { exit } from './exit.ts';
import { flagsOf } from './flags.ts';
import { type Row, renderColumns, wrap } from './terminal/layout.ts';

/** Returns the help text of the program. */
export function programHelp(commands: readonly Pick<ListedCommand, 'name' | 'summary'>[]): string {
  const rows = commands.map((command): Row => [command.name, command.summary]);
  return [
    'Heddle keeps a private mesh network account in sync with its YAML documents.',
    '',
    'Usage: heddle <command> [flags]',
    '',
    'Commands:',
    ...renderColumns(rows),
    '',
    '`heddle <command> --help` explains a command; `heddle --version` prints the version.',
    '',
    'Exit codes:',
    ...renderColumns(exitRows),
    '',
  ].join('\n');
}

/** Returns the help text of one command, derived from its declaration. */
export function commandHelp(command: Command): string {
  const flags = Object.entries(flagsOf(command)).map(([name, flag]): Row => {
    const form = `--${name}${flag.placeholder === undefined ? '' : ` ${flag.placeholder}`}`;
    return [form, flag.variable === undefined ? flag.doc : `${flag.doc} [${flag.variable}]`];
  });
  const variables = command.settings.flatMap((name): readonly Row[] => {
    const { flag, variable, doc } = settings[name];
    return flag === undefined && variable !== undefined ? [[variable, doc]] : [];
  });
  const { argument } = command;
  return [
    command.summary,
    ...(command.details === undefined ? [] : ['', ...wrap(command.details)]),
    '',
    `Usage: ${usageOf(command)}`,
    ...section('Arguments', argument === undefined ? [] : [[argument.placeholder, argument.doc]]),
    ...section('Flags', [...flags, ['-h, --help', 'Show this help.']]),
    ...section('Environment', variables),
    ...examples(command),
    '',
  ].join('\n');
}

/** Returns the usage line of a command. */
export function usageOf(command: Command): string {
  const argument = command.argument === undefined ? '' : ` ${command.argument.placeholder}`;
  return `heddle ${command.name}${argument} [flags]`;
}

/** Exit codes and their meaning, for the help text. */
export const exitRows: readonly Row[] = [
  [String(exit.ok), 'done; with --detailed-exitcode: nothing to change'],
  [String(exit.error), 'an error: command line, input or output, server'],
  [String(exit.changes), 'there are changes (--detailed-exitcode, fmt --check), or drift'],
  [String(exit.approval), 'a guard tripped: the plan needs an approval'],
  [String(exit.conflict), 'a conflict with another source, or a plan that is out of date'],
  [String(exit.invalid), 'the documents are invalid'],
  [String(exit.schemaTooNew), 'the database belongs to a newer Heddle'],
];

function section(title: string, rows: readonly Row[]): readonly string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...renderColumns(rows)];
}

function examples(command: Command): readonly string[] {
  if (command.examples.length === 0) return [];
  const lines = command.examples.flatMap(([line, what]) => [`  # ${what}`, `  ${line}`]);
  return ['', 'Examples:', ...lines];
}
