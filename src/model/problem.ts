import type { ProblemCode } from './problem-codes.ts';
import { shortMessage } from './quote.ts';

/**
 * One fault of the input. Wrong input is data: every function that reads input returns all problems at once.
 * `code` is `<subject>_<fault>` and never changes its meaning.
 */
export interface Problem {
  readonly code: ProblemCode;
  /** One sentence a stranger can act on; it ends with the way out. */
  readonly message: string;
  readonly kind?: string | undefined;
  readonly key?: string | undefined;
  /** JSON pointer into the document or body, such as `/spec/rules/0/ports/1`. */
  readonly path?: string | undefined;
  readonly file?: string | undefined;
  /** 1-based. */
  readonly line?: number | undefined;
  /** 1-based. */
  readonly column?: number | undefined;
  /** The source whose document stands in the way. */
  readonly source?: string | undefined;
  /** Who uses the object that the problem is about, as the message says it too: by kind, name and source. */
  readonly usedBy?: readonly string[] | undefined;
}

/** Codes of problems that another source is part of: agreeing with it mends them as well. */
export const contradictions: ReadonlySet<string> = new Set([
  'unit_conflict',
  'scope_overlap',
  'rename_foreign',
  'source_foreign',
]);

/** The problem with a message that repeats little of the input. */
export function shortProblem(problem: Problem): Problem {
  const message = shortMessage(problem.message);
  return message === problem.message ? problem : { ...problem, message };
}

/** Sorted by place, so that equal input gives equal output whatever order the checks ran in. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const text = (value: string | undefined) => value ?? '';
  return problems
    .map(shortProblem)
    .sort(
      (a, b) =>
        compare(text(a.file), text(b.file)) ||
        (a.line ?? 0) - (b.line ?? 0) ||
        (a.column ?? 0) - (b.column ?? 0) ||
        compare(text(a.kind), text(b.kind)) ||
        compare(text(a.key), text(b.key)) ||
        compare(text(a.path), text(b.path)) ||
        compare(a.code, b.code) ||
        compare(a.message, b.message),
    );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
