import { codeOf } from '../lib/error-code.ts';
import { Unavailable } from '../model/errors.ts';
import type { ProblemCode } from '../model/problem-codes.ts';

/** The code of the problem that the disk has no room. */
export const diskFull = 'disk_full';

// SQLSTATE class 53, but for too many connections.
const shortages: Readonly<Record<string, { readonly code: ProblemCode; readonly message: string }>> = {
  '53100': {
    code: diskFull,
    message: 'the disk of the database is full; nothing was written, and nothing can be until there is room',
  },
  '53200': { code: 'database_out_of_memory', message: 'the database has no memory left; nothing was written' },
};

/** The error of a database that lacks what it needs to carry out a statement; `undefined` for other errors. */
export function shortageOf(error: unknown): Unavailable | undefined {
  const problem = shortages[codeOf(error) ?? ''];
  return problem && new Unavailable(problem.message, { cause: error, problems: [problem] });
}
