import { printable } from '../lib/text/printable.ts';
import { InvalidInput } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { Invocation } from './command.ts';
import { exitCodeOf, isExpected } from './exit.ts';
import type { Format } from './formats.ts';
import { renderProblems } from './terminal/problems.ts';
import type { Terminal } from './terminal/terminal.ts';

/** JSON document that `--json` writes when a command fails. Within a major `formatVersion`, members are only added. */
export interface FailureDocument {
  readonly formatVersion: '1.0';
  readonly error: { readonly message: string; readonly exitCode: number; readonly problems: readonly Problem[] };
}

/** Format of a command's result on standard output. `undefined`: text for people. */
export type ResultForm = 'json' | Format | undefined;

/** Prints an error and returns the exit code. */
export async function reportFailure(terminal: Terminal, error: unknown, form: ResultForm): Promise<number> {
  const code = exitCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const problems = isExpected(error) ? error.problems : [];
  if (form === 'json') writeJson(terminal, failureDocument(message, code, problems));
  else if (form !== undefined) terminal.out(await formatted(form, message, problems));
  if (!isExpected(error)) {
    terminal.note(
      `Heddle failed because of an internal error: ${error instanceof Error ? (error.stack ?? message) : message}\n`,
    );
  } else {
    const isPrinted = problems.length > 0 && error instanceof InvalidInput;
    const isListed = problems.length > 0 && form === undefined;
    const text = isListed ? withoutListed(message, problems) : message;
    if (!isPrinted) terminal.note(`${terminal.notePaint('error', 'error:')} ${printable(text)}\n`);
    if (isListed) terminal.note(renderProblems(problems, terminal.notePaint));
  }
  return code;
}

/** Imported on demand: the formats depend on all of the plan code, which would delay every command. */
async function formatted(form: Format, message: string, problems: readonly Problem[]): Promise<string> {
  return (await import('./render/formats.ts')).formatFailure(form, message, problems);
}

/** Removes from a message the problems in brackets that are also listed below it. */
function withoutListed(message: string, problems: readonly Problem[]): string {
  return problems.reduce((text, problem) => text.replace(` (${problem.message})`, () => ''), message);
}

/** Prints a failure in one sentence and returns the exit code. `more` adds members to the JSON document. */
export function printFailure(
  { flags, terminal }: Pick<Invocation, 'flags' | 'terminal'>,
  code: number,
  message: string,
  more: object = {},
): number {
  if (flags['json'] === true) writeJson(terminal, { ...failureDocument(message, code), ...more });
  terminal.note(`${terminal.notePaint('error', 'error:')} ${printable(message)}\n`);
  return code;
}

/** Returns the JSON document of a failure. */
export function failureDocument(message: string, exitCode: number, problems: readonly Problem[] = []): FailureDocument {
  return { formatVersion: '1.0', error: { message, exitCode, problems } };
}

/** Writes the only JSON document of a command to standard output. */
export function writeJson(terminal: Terminal, document: object): void {
  terminal.out(`${JSON.stringify(document, null, 2)}\n`);
}
