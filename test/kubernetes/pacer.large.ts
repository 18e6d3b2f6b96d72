import { expect, test } from 'vitest';
import { createPacer } from '../../src/kubernetes/pacer.ts';

test('a pacer limits the tasks at once and per second, and runs them in order', async () => {
  const pacer = createPacer({ atOnce: 3, perSecond: 10 });
  let [running, most] = [0, 0];
  const order: number[] = [];
  const begun: number[] = [];
  const tasks = Array.from({ length: 23 }, (_, index) =>
    pacer.run(async () => {
      begun.push(performance.now());
      order.push(index);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    }),
  );
  await Promise.all(tasks);
  expect(most).toBe(3);
  expect(order).toEqual([...Array(23).keys()]);
  const spans = begun.slice(10).map((at, index) => at - (begun[index] ?? 0));
  // Timers have millisecond resolution, so a task that is scheduled within a millisecond may start up to that much
  // earlier.
  expect(Math.min(...spans)).toBeGreaterThan(998);
});
