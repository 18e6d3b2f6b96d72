import { SchemaTooNew } from '../db/schema-too-new.ts';
import { Conflict, HeddleError, InvalidInput, UnsafePlan } from '../model/errors.ts';
import type { Problem } from '../model/problem.ts';

/** What the exit codes of every command mean. Scripts depend on them: they never change. */
export const exit = {
  ok: 0,
  /** Input or output, the server, the command line, a defect. */
  error: 1,
  /** There are changes, and `--detailed-exitcode` was given; or there is drift; or `fmt --check` would change files. */
  changes: 2,
  /** A guard tripped; the plan needs an approval. */
  approval: 3,
  /** A conflict with another writer, or a plan that is no longer what it was. */
  conflict: 4,
  /** The documents are wrong. */
  invalid: 5,
  /** The database was migrated by a newer program. */
  schemaTooNew: 57,
} as const;

/** The only mapping from exceptions to exit codes. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof SchemaTooNew) return exit.schemaTooNew;
  // Without problems it is the request that is wrong, not the documents.
  if (error instanceof InvalidInput) return error.problems.length > 0 ? exitCodeOfProblems(error.problems) : exit.error;
  if (error instanceof Conflict) return exit.conflict;
  if (error instanceof UnsafePlan) return exit.approval;
  return exit.error;
}

const conflicts = new Set(['unit_conflict', 'scope_overlap', 'managed_field']);

/** What is wrong only because others state something else is a conflict, everything else is invalid. */
export function exitCodeOfProblems(problems: readonly Problem[]): number {
  const others = problems.filter((problem) => !conflicts.has(problem.code));
  return problems.length > 0 && others.length === 0 ? exit.conflict : exit.invalid;
}

/** The code of a command for which several hold: 5 before 4 before 3 before 2. */
export function worstOf(codes: readonly number[]): number {
  return Math.max(exit.ok, ...codes);
}

/** Whether the message was written for people; anything else is a defect and shows where it happened. */
export function isExpected(error: unknown): error is HeddleError {
  return error instanceof HeddleError;
}
