import { setTimeout as delay } from 'node:timers/promises';

/** Runs tasks, not too many at once nor too many a second; the others wait in order. */
export interface Pacer {
  run<Value>(task: () => Promise<Value>): Promise<Value>;
}

/** Creates a pacer. Up to `perSecond` tasks may begin at once after a quiet second. */
export function createPacer({ atOnce, perSecond }: { readonly atOnce: number; readonly perSecond: number }): Pacer {
  const waiting: (() => void)[] = [];
  let running = 0;
  /** When the next task may begin, in the milliseconds of `performance.now()`. */
  let next = 0;
  const step = 1000 / perSecond;

  const enter = async (): Promise<void> => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    const now = performance.now();
    next = Math.max(next, now - 1000) + step;
    if (next > now) await delay(next - now);
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
