import { InvalidInput } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';
import type { Invocation } from './command.ts';
import { exitCodeOf, isExpected } from './exit.ts';
import type { Format } from './formats.ts';
import { printable } from './terminal/paint.ts';
import { renderProblems } from './terminal/problems.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What `--json` writes when a command fails. Members are only ever added (`formatVersion`). */
export interface FailureDocument {
  readonly formatVersion: '1.0';
  readonly error: { readonly message: string; readonly exitCode: number; readonly problems: readonly Problem[] };
}

/** The format in which the result of a command is written, in addition to what it prints for people. */
export type ResultForm = 'json' | Format | undefined;

/** Prints an error and returns the exit code. */
export async function reportFailure(terminal: Terminal, error: unknown, form: ResultForm): Promise<number> {
  const code = exitCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const problems = isExpected(error) ? error.problems : [];
  if (form === 'json') writeJson(terminal, failureDocument(message, code, problems));
  else if (form !== undefined) terminal.out(await formatted(form, message, problems));
  if (!isExpected(error)) {
    terminal.note(`Heddle met a defect of its own: ${error instanceof Error ? (error.stack ?? message) : message}\n`);
  } else {
    const isPrinted = problems.length > 0 && error instanceof InvalidInput;
    const isListed = problems.length > 0 && form === undefined;
    const text = isListed ? withoutListed(message, problems) : message;
    if (!isPrinted) terminal.note(`${terminal.notePaint('error', 'error:')} ${printable(text)}\n`);
    if (isListed) terminal.note(renderProblems(problems, terminal.notePaint));
  }
  return code;
}

/** Loaded when it is needed: what writes these forms knows all about plans, and every command would wait for it. */
async function formatted(form: Format, message: string, problems: readonly Problem[]): Promise<string> {
  return (await import('./render/formats.ts')).formatFailure(form, message, problems);
}

/** What is listed below a sentence need not stand in its brackets too. */
function withoutListed(message: string, problems: readonly Problem[]): string {
  return problems.reduce((text, problem) => text.replace(` (${problem.message})`, () => ''), message);
}

/**
 * Prints in one sentence what did not happen, and returns the exit code; `more` are further members of the document.
 */
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

/** The document of a failure. */
export function failureDocument(message: string, exitCode: number, problems: readonly Problem[] = []): FailureDocument {
  return { formatVersion: '1.0', error: { message, exitCode, problems } };
}

/** Writes the one JSON document of a command. */
export function writeJson(terminal: Terminal, document: object): void {
  terminal.out(`${JSON.stringify(document, null, 2)}\n`);
}
