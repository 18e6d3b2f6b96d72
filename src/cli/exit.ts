import { SchemaTooNew } from '../db/schema-too-new.ts';
import { Conflict, HeddleError, InvalidInput, UnsafePlan } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';

/** Exit codes of all commands. Scripts depend on them, so they never change. */
export const exit = {
  ok: 0,
  /** An error of input or output, of the server or of the command line, or a defect. */
  error: 1,
  /** There are changes, and `--detailed-exitcode` was given; or there is drift; or `fmt --check` would change files. */
  changes: 2,
  /** A guard tripped; the plan needs an approval. */
  approval: 3,
  /** A conflict with another writer, or a plan that is out of date. */
  conflict: 4,
  /** The documents are wrong. */
  invalid: 5,
  /** The database was migrated by a newer program. */
  schemaTooNew: 57,
} as const;

/** Returns the exit code for an exception. This is the only mapping from exceptions to exit codes. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof SchemaTooNew) return exit.schemaTooNew;
  // Without problems, the request is wrong rather than the documents.
  if (error instanceof InvalidInput) return error.problems.length > 0 ? exitCodeOfProblems(error.problems) : exit.error;
  if (error instanceof Conflict) return exit.conflict;
  if (error instanceof UnsafePlan) return exit.approval;
  return exit.error;
}

const conflicts = new Set(['unit_conflict', 'scope_overlap', 'managed_field']);

/**
 * Returns the exit code for problems: a conflict if all of them are contradictions with other writers, otherwise
 * invalid.
 */
export function exitCodeOfProblems(problems: readonly Problem[]): number {
  const others = problems.filter((problem) => !conflicts.has(problem.code));
  return problems.length > 0 && others.length === 0 ? exit.conflict : exit.invalid;
}

/** Returns the highest of several exit codes: 5 before 4 before 3 before 2. */
export function worstOf(codes: readonly number[]): number {
  return Math.max(exit.ok, ...codes);
}

/**
 * Checks whether the error's message is meant for users. Any other error is a defect, and is printed with its stack.
 */
export function isExpected(error: unknown): error is HeddleError {
  return error instanceof HeddleError;
}
