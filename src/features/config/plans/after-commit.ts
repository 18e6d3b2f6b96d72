import type { Engine } from '../../../commit/engine.ts';

/**
 * Runs work that follows a commit and is not part of it. When the work fails, the request has succeeded all the same
 * and the caller gets that answer; the log states what is missing.
 */
export async function runAfterCommit(
  { reportFailure }: Pick<Engine, 'reportFailure'>,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    reportFailure(`${what} failed after the commit`, error);
  }
}
