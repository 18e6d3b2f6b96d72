import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../../../commit/engine.ts';
import { type FoldTarget, foldStep, foldTargets, type Retention } from '../../../db/commit/compaction.ts';

/**
 * Folds changes that are older than the kept history into the base image, account by account. Returns the number of
 * folded changes.
 */
export async function compactHistory(
  engine: Pick<Engine, 'database' | 'registry'>,
  retention: Retention,
  signal?: AbortSignal,
): Promise<number> {
  let folded = 0;
  for (const target of await foldTargets(engine.database, retention))
    folded += await foldAccount(engine, target, signal);
  return folded;
}

async function foldAccount(
  { database, registry }: Pick<Engine, 'database' | 'registry'>,
  target: FoldTarget,
  signal?: AbortSignal,
): Promise<number> {
  let folded = 0;
  while (signal?.aborted !== true) {
    const step = await foldStep(database, registry, target);
    if (step === 0) break;
    folded += step;
    // Other work on the event loop gets its turn between two steps.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return folded;
}

/** Options of the loop that compacts the history of all accounts. */
export interface RetentionLoopOptions {
  readonly engine: Pick<Engine, 'database' | 'registry'>;
  readonly retention: Retention;
  /** Called with errors; the next round tries again. */
  failed(error: unknown): void;
}

/**
 * Delay of the first round after the start, in milliseconds. Later rounds follow about hourly, with a random deviation
 * so that two servers do not stay in step.
 */
const firstDelayMs = 60_000;
const roundIntervalMs = 3_600_000;

/** Folds old history repeatedly. Returns a function that stops the loop after the running step. */
export function runRetention({ engine, retention, failed }: RetentionLoopOptions): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    for (let delay = firstDelayMs; !signal.aborted; delay = roundIntervalMs * (0.9 + Math.random() * 0.2)) {
      // `stopping.abort()` ends the wait with an error.
      await wait(delay, undefined, { signal, ref: false }).catch(() => {});
      if (!signal.aborted) await compactHistory(engine, retention, signal).catch(failed);
    }
  };
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };
}
