import { setTimeout as delay } from 'node:timers/promises';

/** Runs tasks with a limit on concurrent tasks and on starts per second. Further tasks wait in order. */
export interface Pacer {
  run<Value>(task: () => Promise<Value>): Promise<Value>;
}

/**
 * Creates a pacer. Within any second at most `perSecond` tasks start; after a quiet second, that many may start at
 * once.
 */
export function createPacer({ atOnce, perSecond }: { readonly atOnce: number; readonly perSecond: number }): Pacer {
  const waiting: (() => void)[] = [];
  let running = 0;
  /** Start times of the last `perSecond` tasks, in the milliseconds of `performance.now()`. */
  const begun: number[] = [];
  let last = Promise.resolve();

  const begin = async (): Promise<void> => {
    const first = begun.length < perSecond ? undefined : begun.shift();
    const wait = first === undefined ? 0 : Math.ceil(first + 1000 - performance.now());
    if (wait > 0) await delay(wait);
    begun.push(performance.now());
  };
  const enter = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    last = last.then(begin);
    await last;
  };
  const leave = (): void => {
    const first = waiting.shift();
    // The task that has waited longest takes over the slot.
    if (first === undefined) running -= 1;
    else first();
  };

  return {
    async run(task) {
      await enter();
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
}
