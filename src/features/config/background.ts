import type { Engine } from '../../commit/engine.ts';
import { watchAccessTests } from './access/watch-tests.ts';
import { type RetentionLoopOptions, runRetention } from './history/retention.ts';

/**
 * Compacts changes that are older than the kept history, and writes events when access tests begin to fail. Returns a
 * function that stops both.
 */
export function startUpkeep(
  engine: Engine,
  retention: RetentionLoopOptions['retention'],
  report: (level: 'warn' | 'error', what: string, error: unknown) => void,
): () => Promise<void> {
  const stopRetention = runRetention({
    engine,
    retention,
    failed: (error) => report('warn', 'old history could not be compacted', error),
  });
  const stopWatching = watchAccessTests(engine, (error) => report('error', 'defect: access tests were not run', error));
  return async () => {
    await stopRetention();
    await stopWatching();
  };
}
