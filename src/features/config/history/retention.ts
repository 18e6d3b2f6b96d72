import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from '../../../commit/engine.ts';
import { type FoldTarget, foldStep, foldTargets, type Retention } from '../../../db/commit/compaction.ts';

/** Folds what is older than the history that is kept, account by account, and answers how many changes went. */
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
    // Others get their turn between two steps.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return folded;
}

/** How the history of all accounts is kept short. */
export interface RetentionLoop {
  readonly engine: Pick<Engine, 'database' | 'registry'>;
  readonly retention: Retention;
  /** Called with errors; the next round tries again. */
  failed(error: unknown): void;
}

/** The first round comes soon after the start, the others hourly; two servers never begin at the same moment for long. */
const firstRound = 60_000;
const rounds = 3_600_000;

/** Folds old history again and again. The function it returns stops it, after the step that is under way. */
export function runRetention({ engine, retention, failed }: RetentionLoop): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loop = async (): Promise<void> => {
    for (let delay = firstRound; !signal.aborted; delay = rounds * (0.9 + Math.random() * 0.2)) {
      // Being stopped ends the wait.
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
