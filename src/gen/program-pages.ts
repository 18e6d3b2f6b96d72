import type { Command } from '../cli/command.ts';
import { commandHelp, exitRows } from '../cli/help.ts';
import { settings } from '../config.ts';
import { cellOf, modules, roles } from '../model/declare/roles.ts';
import { problemCodes } from '../model/problem-codes.ts';
import { page, table } from './markdown.ts';

const aboutCommands = `
From a checkout, \`npx heddle …\` runs them. \`--json\` writes exactly one JSON document to standard output.
\`source <(heddle completion bash)\` completes commands and flags. [GitOps](../gitops.md) shows most of them at work.`;

/** Returns the reference page of commands: their help texts, and the exit codes. */
export function commandPage(commands: readonly Command[]): string {
  const rows = commands.map((command) => [`[\`${usageOf(command)}\`](#${anchorOf(command)})`, command.summary]);
  const codes = table(['Exit code', 'Meaning'], exitRows);
  const summary = [table(['Command', 'Does'], rows), '## Exit codes', codes];
  return page('Commands', 'src/cli', aboutCommands, ...summary, ...commands.map(commandSection));
}

function commandSection(command: Command): string {
  return `## heddle ${command.name}\n\n\`\`\`text\n${commandHelp(command).trim()}\n\`\`\``;
}

function usageOf({ name, argument }: Command): string {
  return `heddle ${name}${argument === undefined ? '' : ` ${argument.placeholder}`}`;
}

function anchorOf({ name }: Command): string {
  return `heddle-${name.replaceAll(' ', '-')}`;
}

const aboutSettings = `
Every setting of the server is a flag or a variable. A flag takes precedence over its variable, and a variable over the
file that \`--config\` names; \`examples/server/heddle.yaml\` is such a file with every setting.
[Operations](../operations.md) says when to use which.`;

/** Returns the reference page of settings, with their flags and environment variables. */
export function settingPage(): string {
  const rows = Object.values(settings).map(({ flag, variable, placeholder, doc, isSwitch }) => [
    flag === undefined ? '' : `\`--${flag}${isSwitch === true ? '' : ` ${placeholder}`}\``,
    variable === undefined ? '' : `\`${variable}\``,
    doc,
  ]);
  return page('Settings', 'src/config.ts', aboutSettings, table(['Flag', 'Variable', 'Meaning'], rows));
}

const aboutProblems = `
Every problem that can occur, by its \`code\`: in answers of the API, in plans and drafts of documents, and after the sentence
that a command prints. The sentence beside a code describes the problem and the way out. Codes are only ever added; a program
treats an unknown code like any other refusal.`;

/** Returns the reference page of problems: every code with its meaning. */
export function problemPage(): string {
  const rows = Object.entries(problemCodes).map(([code, meaning]) => [`\`${code}\``, meaning]);
  return page('Problems', 'src/model/problem-codes.ts', aboutProblems, table(['Code', 'Meaning'], rows));
}

const aboutRoles = `
What each role may do, by module of the API. C, R, U and D are creating, reading, updating and deleting. Everybody manages
their own tokens and sees their own profile and, where the account lets them, their own peers. A service user may read
everything, whatever its role. Documents are authorised change by change, by the same table. The answer of every endpoint
to every role is in [test/api/roles.md](../../test/api/roles.md), which a test writes.`;

/** Returns the reference page of roles: their permissions by module. */
export function rolePage(): string {
  const rows = modules.map((module) => [`\`${module}\``, ...roles.map((role) => cellOf(role, module))]);
  const matrix = table(['Module', ...roles.map((role) => `\`${role}\``)], rows);
  return page('Roles', 'src/model/declare/roles.ts', aboutRoles, matrix);
}
