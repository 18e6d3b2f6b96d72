import { numberText } from '../../lib/number-text.ts';
import { type Problem, sortProblems } from '../../model/problem.ts';
import { type Paint, printable } from './paint.ts';

/** Problems in the order of their places, each with the object and the field it is about, and a line that counts them. */
export function renderProblems(problems: readonly Problem[], paint: Paint): string {
  const files = new Set(problems.map((problem) => problem.file).filter((file) => file !== undefined));
  const where = files.size === 0 ? '' : ` in ${count(files.size, 'file')}`;
  const lines = sortProblems(problems).map((problem) => renderProblem(problem, paint));
  return [...lines, '', paint('error', `${count(problems.length, 'problem')}${where}.`), ''].join('\n');
}

/** Warnings, one below the other. */
export function renderWarnings(warnings: readonly Problem[], paint: Paint): string {
  return sortProblems(warnings)
    .map((warning) => `${paint('warning', 'warning:')} ${renderProblem(warning, paint)}\n`)
    .join('');
}

/** `file:line:column: message (code)`, and below it the object with the path of the field. */
function renderProblem(problem: Problem, paint: Paint): string {
  const place = placeOf(problem);
  const subject = [[problem.kind, problem.key].filter(isGiven).join(' '), problem.path].filter(isGiven).join('  ');
  const first = `${place === '' ? '' : `${paint('strong', place)}: `}${printable(problem.message)} ${paint('faint', `(${problem.code})`)}`;
  return subject === '' ? first : `${first}\n    ${paint('faint', printable(subject))}`;
}

/** `file:line:column`, as far as it is known. */
export function placeOf(problem: Pick<Problem, 'file' | 'line' | 'column'>): string {
  if (problem.file === undefined) return '';
  const numbers = problem.line === undefined ? [] : [problem.line, problem.column];
  return [printable(problem.file), ...numbers.filter((number) => number !== undefined)].join(':');
}

/** A number with its noun: `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${numberText(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
