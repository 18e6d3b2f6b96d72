import type { ProblemCode } from './problem-codes.ts';
import { shortenMessage, shortenPointer, shortenQuote } from './quote.ts';

/**
 * One fault of the input. Invalid input is data, not an exception: every function that reads input returns all problems
 * at once. `code` has the form `<subject>_<fault>` and never changes its meaning.
 */
export interface Problem {
  readonly code: ProblemCode;
  /** One sentence that is understandable without context and ends with a way to fix the problem. */
  readonly message: string;
  readonly kind?: string | undefined;
  readonly key?: string | undefined;
  /** JSON pointer into the document or body, such as `/spec/rules/0/ports/1`. */
  readonly path?: string | undefined;
  readonly file?: string | undefined;
  /** Line number, counted from 1. */
  readonly line?: number | undefined;
  /** Column number, counted from 1. */
  readonly column?: number | undefined;
  /** Source whose document is in conflict. */
  readonly source?: string | undefined;
  /** Objects that use the object of the problem, by kind, name and source. `message` lists them too. */
  readonly usedBy?: readonly string[] | undefined;
}

/** Codes of problems that involve another source. Agreement with that source also solves them. */
export const contradictionCodes: ReadonlySet<string> = new Set([
  'unit_conflict',
  'scope_overlap',
  'rename_foreign',
  'source_foreign',
]);

/**
 * Returns the problem with little of the input in its texts. Only for problems that are shown: two objects with long keys
 * may have the same shortened key.
 */
export function shortenProblem(problem: Problem): Problem {
  const message = shortenMessage(problem.message);
  const kind = problem.kind && shortenQuote(problem.kind);
  const key = problem.key && shortenQuote(problem.key);
  const path = problem.path && shortenPointer(problem.path);
  const isShort = message === problem.message && kind === problem.kind && key === problem.key && path === problem.path;
  if (isShort) return problem;
  return {
    ...{ ...problem, message },
    ...(kind === undefined ? {} : { kind }),
    ...(key === undefined ? {} : { key }),
    ...(path === undefined ? {} : { path }),
  };
}

/**
 * Maximum number of problems in one answer. No user corrects more by hand, and a body of 1 MB can have hundreds of
 * thousands.
 */
export const maxProblems = 1000;

/**
 * Returns the first problems by position, and at least one of each code, with a note when there are more. Limits a
 * limited list no further.
 */
export function limitProblems(problems: readonly Problem[]): readonly Problem[] {
  return firstProblems(problems).map(shortenProblem);
}

/** Like `limitProblems`, with complete texts: a shortened pointer leads to no value in a document. */
export function firstProblems(problems: readonly Problem[]): readonly Problem[] {
  return limitList(problems, `there are more problems than these ${maxProblems}; correct these first`);
}

/**
 * Like `limitProblems`, for warnings. Only for lists that are shown: what a plan postpones follows from all of its
 * warnings.
 */
export function limitWarnings(warnings: readonly Problem[]): readonly Problem[] {
  return firstWarnings(warnings).map(shortenProblem);
}

/** Like `limitWarnings`, with complete texts. */
export function firstWarnings(warnings: readonly Problem[]): readonly Problem[] {
  return limitList(warnings, `there are more warnings than these ${maxProblems}`);
}

function limitList(problems: readonly Problem[], message: string): readonly Problem[] {
  const sorted = sortProblems(problems);
  const real = sorted.filter((problem) => !isTruncationNote(problem));
  const isTruncated = real.length > maxProblems;
  const selected = isTruncated ? selectFirst(real, maxProblems) : sorted;
  return [...sortProblems(selected), ...(isTruncated ? [{ code: 'problems_truncated', message } as const] : [])];
}

/**
 * Returns `most` problems: the first of each code, because codes decide about the status of the answer, and the first
 * others. Returns more only if there are more codes.
 */
function selectFirst<Coded extends { readonly code: string }>(
  problems: readonly Coded[],
  most: number,
): readonly Coded[] {
  if (problems.length <= most) return problems;
  let remaining = most - new Set(problems.map(({ code }) => code)).size;
  const codes = new Set<string>();
  return problems.filter(({ code }) => {
    const isFirst = !codes.has(code);
    codes.add(code);
    if (!isFirst) remaining -= 1;
    return isFirst || remaining >= 0;
  });
}

/** Maximum number of problems whose messages are joined to one. */
const maxJoined = 20;

/**
 * Returns one message for all problems. Names only their number after the first ones, because answers list them too.
 */
export function joinMessages(problems: readonly Problem[]): string {
  const joined = problems.slice(0, maxJoined).map(({ message }) => shortenMessage(message));
  const others = problems.length - joined.length;
  return `${joined.join('; ')}${others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'problem' : 'problems'})`}`;
}

/**
 * Returns as many faults or warnings of one object as still fit into an answer after the `found` ones of other objects,
 * and at least one of each code: an object with a fault must be known, and the codes decide what becomes of it.
 */
export function takeFaults<Fault extends { readonly code: string }>(
  faults: readonly Fault[],
  found: number,
): readonly Fault[] {
  return selectFirst(faults, maxProblems + 1 - found);
}

/** Sorts problems by position, so that equal input gives equal output regardless of the order of the checks. */
export function sortProblems(problems: readonly Problem[]): readonly Problem[] {
  const text = (value: string | undefined) => value ?? '';
  return problems.toSorted(
    (a, b) =>
      Number(isTruncationNote(a)) - Number(isTruncationNote(b)) ||
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

/** Whether the problem is the note of `limitProblems`, which comes last. */
export function isTruncationNote({ code }: Problem): boolean {
  return code === 'problems_truncated';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
