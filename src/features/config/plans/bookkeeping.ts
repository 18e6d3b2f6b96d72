import type { Engine } from '../../../commit/engine.ts';

/**
 * Does what follows a commit and is no part of it. When that fails, what was asked for is done all the same, and the caller
 * is answered so: the log says what is missing.
 */
export async function afterCommit(
  { failed }: Pick<Engine, 'failed'>,
  what: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    failed(`${what} failed after the commit`, error);
  }
}
