import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  begin,
  type Conclusion,
  createSchedule,
  defaultTiming,
  end,
  requestRun,
  step,
  type Trigger,
} from '../../src/features/sources/loop/schedule.ts';

const minute = 60_000;
const { intervalMs, refillMs, probeMs, burst } = defaultTiming;

/** Conclusions of reconciles. */
export const same: Conclusion = { result: 'same' };
export const failed: Conclusion = { result: 'failed' };
export const done = (wrote: boolean, content = 'c'): Conclusion => ({ result: 'done', key: 'k', content, wrote });
export const refused = (key: string): Conclusion => ({ result: 'refused', key, content: 'c' });

/** Declares the property test of schedules. */
export function testAnySchedule(numRuns: number): void {
  describe('any schedule', () => {
    const conclusions = fc.oneof(
      fc.constant(same),
      fc.constant(failed),
      fc.boolean().map((wrote) => done(wrote)),
      fc.constantFrom('a', 'b').map(refused),
    );
    const happening = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ after: fc.nat(10_000), trigger: fc.constantFrom<Trigger>('content', 'hint') }),
      },
      { weight: 1, arbitrary: fc.record({ after: fc.nat(400_000), trigger: fc.constant(undefined) }) },
    );
    const life = fc.array(fc.tuple(happening, conclusions, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3000)), {
      minLength: 50,
      maxLength: 200,
    });

    test('always waits or runs, is never forgotten, and writes no more often than the bucket allows', () => {
      fc.assert(
        fc.property(life, (steps) => {
          let schedule = createSchedule(defaultTiming, 0);
          let now = 0;
          const spending: number[] = [];
          for (const [{ after, trigger }, conclusion, random, lasts] of steps) {
            now += after;
            if (trigger !== undefined) schedule = requestRun(schedule, trigger);
            const next = step(schedule, now);
            schedule = next.schedule;
            if (!('run' in next.step)) {
              const { until = Number.POSITIVE_INFINITY } = next.step;
              // The next run is never later than the interval, with its spread of 10%, or the probe.
              expect(until - now).toBeLessThanOrEqual(Math.max(1.1 * intervalMs, probeMs));
              continue;
            }
            schedule = begin(schedule, next.step.run, now);
            expect(step(schedule, now).step).toEqual({});
            now += lasts;
            schedule = end(schedule, conclusion, now, random);
            const wrote = conclusion.result === 'done' && conclusion.wrote;
            if (wrote) spending.push(now);
            const lately = spending.filter((at) => at > now - 10 * minute).length;
            expect(lately).toBeLessThanOrEqual(burst + (10 * minute) / refillMs + (10 * minute) / probeMs + 1);
          }
        }),
        { numRuns },
      );
    });
  });
}
