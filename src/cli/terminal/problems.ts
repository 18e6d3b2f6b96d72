import { formatNumber } from '../../lib/number-text.ts';
import { printable } from '../../lib/text/printable.ts';
import { type Problem, sortProblems } from '../../model/problem.ts';
import type { Paint } from './paint.ts';

/**
 * Returns the problems in the order of their positions, each with its object and field, and a line with their number.
 */
export function renderProblems(problems: readonly Problem[], paint: Paint): string {
  const files = new Set(problems.map((problem) => problem.file).filter((file) => file !== undefined));
  const where = files.size === 0 ? '' : ` in ${count(files.size, 'file')}`;
  const lines = sortProblems(problems).map((problem) => renderProblem(problem, paint));
  return [...lines, '', paint('error', `${count(problems.length, 'problem')}${where}.`), ''].join('\n');
}

/** Returns the warnings, one below the other. */
export function renderWarnings(warnings: readonly Problem[], paint: Paint): string {
  return sortProblems(warnings)
    .map((warning) => `${paint('warning', 'warning:')} ${renderProblem(warning, paint)}\n`)
    .join('');
}

/** Returns `file:line:column: message (code)`, and below it the object and the path of the field. */
function renderProblem(problem: Problem, paint: Paint): string {
  const position = positionText(problem);
  const subject = [[problem.kind, problem.key].filter(isGiven).join(' '), problem.path].filter(isGiven).join('  ');
  const first = `${position === '' ? '' : `${paint('strong', position)}: `}${printable(problem.message)} ${paint('faint', `(${problem.code})`)}`;
  return subject === '' ? first : `${first}\n    ${paint('faint', printable(subject))}`;
}

/** Returns `file:line:column`, without the parts that are unknown. Empty without a file. */
export function positionText(problem: Pick<Problem, 'file' | 'line' | 'column'>): string {
  if (problem.file === undefined) return '';
  const numbers = problem.line === undefined ? [] : [problem.line, problem.column];
  return [printable(problem.file), ...numbers.filter((number) => number !== undefined)].join(':');
}

/** Returns a number with its noun, such as `1 file` or `2 files`. */
export function count(number: number, noun: string): string {
  return `${formatNumber(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
