import { codeOf } from '../lib/error-code.ts';
import { Unavailable } from '../model/errors.ts';
import type { ProblemCode } from '../model/problem-codes.ts';

/** Problem code of a full disk. */
export const diskFull = 'disk_full';

// SQLSTATEs of class 53 (insufficient resources), except too many connections.
const shortages: Readonly<Record<string, { readonly code: ProblemCode; readonly message: string }>> = {
  '53100': {
    code: diskFull,
    message: 'the disk of the database is full; nothing was written, and writes fail until disk space is freed',
  },
  '53200': { code: 'database_out_of_memory', message: 'the database has no memory left; nothing was written' },
};

/**
 * Returns the error of a database that lacks the disk or memory to execute a statement; `undefined` for other errors.
 */
export function shortageOf(error: unknown): Unavailable | undefined {
  const problem = shortages[codeOf(error) ?? ''];
  return problem && new Unavailable(problem.message, { cause: error, problems: [problem] });
}
