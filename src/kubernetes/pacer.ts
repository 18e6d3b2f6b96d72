import { setTimeout as delay } from 'node:timers/promises';

/** Runs tasks, not too many at once nor too many a second; the others wait in order. */
export interface Pacer {
  run<Value>(task: () => Promise<Value>): Promise<Value>;
}

/** Creates a pacer: no second has more than `perSecond` beginnings, so as many tasks may begin at once after a quiet one. */
export function createPacer({ atOnce, perSecond }: { readonly atOnce: number; readonly perSecond: number }): Pacer {
  const waiting: (() => void)[] = [];
  let running = 0;
  /** When the last tasks began, as many as a second may have, in the milliseconds of `performance.now()`. */
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
    // Its place goes to the one who waits longest.
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
