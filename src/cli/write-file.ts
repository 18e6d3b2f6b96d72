import { InvalidInput } from '../model/errors.ts';

/** The error of writing to a path that a command line names: wrong input where the system refused the path. */
export function writeError(path: string, error: unknown): unknown {
  // The system says so on each of its errors.
  const { code, path: refused } = error as NodeJS.ErrnoException;
  if (code === undefined || refused === undefined) return error;
  return new InvalidInput(`${path} cannot be written (${code}); name a file in a directory that you may write to.`, {
    cause: error,
  });
}
