import { describe, expect, test } from 'vitest';
import {
  begin,
  type Conclusion,
  createSchedule,
  defaultTiming,
  end,
  isNew,
  requestRun,
  resume,
  type Schedule,
  step,
  suspend,
  type Trigger,
} from '../../src/features/sources/loop/schedule.ts';
import { done, failed, refused, same, testAnySchedule } from './schedule-property.ts';

const minute = 60_000;
const { intervalMs, refillMs, probeMs, burst, hintGapMs } = defaultTiming;

/**
 * Runs what is due at `now` and ends it at once. Returns the trigger (`undefined`: nothing was due) and the schedule
 * afterwards.
 */
function run(schedule: Schedule, now: number, conclusion: Conclusion, random = 0.5): [Trigger | undefined, Schedule] {
  const stepped = step(schedule, now);
  if (!('run' in stepped.step)) return [undefined, stepped.schedule];
  const trigger = stepped.step.run;
  return [trigger, end(begin(stepped.schedule, trigger, now), conclusion, now, random)];
}

const started = run(createSchedule(defaultTiming, 0), 0, done(true))[1];
const due = (schedule: Schedule, now: number) => step(schedule, now).step;

describe('a schedule', () => {
  test('starts at once, or after the delay that spreads many sources over time', () => {
    expect(due(createSchedule(defaultTiming, 0), 0)).toEqual({ run: 'start' });
    const later = createSchedule(defaultTiming, 100, 400);
    expect(due(later, 499)).toEqual({ until: 500 });
    expect(due(later, 500)).toEqual({ run: 'interval' });
  });

  test.each([
    ['success', done(false), 0, 0.9 * intervalMs],
    ['success', done(false), 1, 1.1 * intervalMs],
    ['refusal', refused('k'), 0.5, intervalMs],
    ['nothing new', same, 0.25, 0.95 * intervalMs],
  ])('runs again after the interval, give or take a tenth, after %s', (_, conclusion, random, after) => {
    const [, schedule] = run(requestRun(started, 'request'), 1000, conclusion, random);
    expect(due(schedule, 1000)).toEqual({ until: 1000 + after });
    expect(due(schedule, 1000 + after)).toEqual({ run: 'interval' });
  });

  test('E133: treats refused input as new only if it changes, on request, or after it was unreachable', () => {
    const [, schedule] = run(requestRun(started, 'content'), minute, refused('a'));
    expect([isNew(schedule, 'a'), isNew(schedule, 'b')]).toEqual([false, true]);
    const asked = begin(requestRun(schedule, 'request'), 'request', 2 * minute);
    expect(isNew(asked, 'a')).toBe(true);
    const reset = begin(requestRun(schedule, 'settings'), 'settings', 2 * minute);
    expect(isNew(reset, 'a')).toBe(false);
    expect(isNew(run(requestRun(schedule, 'content'), minute, failed)[1], 'a')).toBe(true);
  });

  test('retries an unreachable source after growing delays of at most five minutes', () => {
    let schedule = started;
    const delays: number[] = [];
    let now = 0;
    for (let failure = 0; failure < 12; failure += 1) {
      schedule = run(requestRun(schedule, 'request'), now, failed, 1)[1];
      if (failure === 0) expect(due(schedule, now)).toEqual({ until: now + 2000 });
      schedule = { ...schedule, failures: failure + 1 };
      const next = end(begin(schedule, 'retry', now), failed, now, 1);
      delays.push((next.retryAt ?? 0) - now);
      now += 1;
    }
    expect(delays.slice(0, 4)).toEqual([4000, 8000, 16_000, 32_000]);
    expect(Math.max(...delays)).toBe(5 * minute);
    expect(run(started, intervalMs, failed, 0)[1].retryAt).toBe(intervalMs + 1000);
  });

  test('resets the failure count after a success', () => {
    const [, failing] = run(requestRun(started, 'content'), 0, failed, 1);
    expect(due(failing, 2000)).toEqual({ run: 'retry' });
    const [, well] = run(failing, 2000, done(true), 1);
    expect([well.failures, well.retryAt]).toEqual([0, undefined]);
  });

  test('runs one reconcile for any number of events, and another for events during it', () => {
    const many = Array.from({ length: 50 }).reduce<Schedule>((schedule) => requestRun(schedule, 'content'), started);
    const running = begin(many, 'content', 0);
    expect(due(running, 0)).toEqual({});
    const again = end(requestRun(requestRun(running, 'content'), 'content'), done(true), 10, 0.5);
    const [trigger, rest] = run(again, 10, done(true));
    expect(trigger).toBe('content');
    expect(due(rest, 10)).toEqual({ until: 10 + intervalMs });
  });

  test('E132: runs once in five seconds for a hundred hints a second', () => {
    let schedule = started;
    const runs: number[] = [];
    for (let now = 1; now <= 20_000; now += 10) {
      const [trigger, next] = run(requestRun(schedule, 'hint'), now, same);
      if (trigger !== undefined) runs.push(now);
      schedule = next;
    }
    expect(runs).toHaveLength(Math.floor(20_000 / hintGapMs));
    expect(schedule.hot).toBeUndefined();
  });

  test('prefers requests of a person to events', () => {
    expect(due(requestRun(requestRun(started, 'hint'), 'request'), 0)).toEqual({ run: 'request' });
    expect(due(requestRun(requestRun(started, 'request'), 'content'), 0)).toEqual({ run: 'request' });
    expect(due(requestRun(requestRun(started, 'hint'), 'content'), 0)).toEqual({ run: 'content' });
    for (const other of ['approval', 'settings', 'resume'] as const) {
      expect(due(requestRun(requestRun(started, other), 'request'), 0)).toEqual({ run: 'request' });
      expect(due(requestRun(requestRun(started, 'request'), other), 0)).toEqual({ run: 'request' });
    }
  });
});

describe('E134: a hot loop', () => {
  /**
   * Schedule after `burst` reconciles, one per second, of content that had been there before. Each of them changed
   * something.
   */
  const spent = Array.from({ length: burst }).reduce<Schedule>(
    (schedule, _, at) => run(requestRun(schedule, 'content'), at * 1000, done(true))[1],
    started,
  );
  const hot = step(requestRun(spent, 'content'), 20_000).schedule;

  test('is stopped at the first reconcile beyond the limit, and its trigger is recorded', () => {
    expect(spent.hot).toBeUndefined();
    expect(hot.hot).toEqual({ trigger: 'content', probeAt: 20_000 + probeMs });
    expect(due(hot, 20_000)).toEqual({ until: 20_000 + probeMs });
  });

  test('is probed every five minutes, and continues when a probe finds nothing to change', () => {
    const probing = 20_000 + probeMs;
    const [trigger, stillHot] = run(hot, probing, done(true));
    expect(trigger).toBe('probe');
    expect(due(stillHot, probing)).toEqual({ until: probing + probeMs });
    const [, cool] = run(stillHot, probing + probeMs, same);
    expect(cool.hot).toBeUndefined();
    expect(due(requestRun(cool, 'content'), probing + probeMs)).toEqual({ run: 'content' });
  });

  test.each<Trigger>(['request', 'approval', 'settings', 'resume'])('runs again at once on %s', (trigger) => {
    const [ran, cool] = run(requestRun(hot, trigger), 20_000, done(true));
    expect([ran, cool.hot]).toEqual([trigger, undefined]);
    expect(due(requestRun(cool, 'content'), 20_000)).toEqual({ run: 'content' });
  });

  test('is not detected if the content is new each time, however often it is saved', () => {
    const edited = Array.from({ length: 200 }).reduce<Schedule>(
      (schedule, _, at) => run(requestRun(schedule, 'content'), at * 100, done(true, `save ${at}`))[1],
      started,
    );
    expect(edited.hot).toBeUndefined();
    expect(due(requestRun(edited, 'content'), 20_000)).toEqual({ run: 'content' });
  });

  test('is detected if the content alternates between the same values', () => {
    let schedule = started;
    for (let at = 0; at < burst + 2; at += 1)
      schedule = run(requestRun(schedule, 'content'), at * 100, done(true, at % 2 === 0 ? 'even' : 'odd'))[1];
    expect(step(requestRun(schedule, 'content'), 10_000).schedule.hot).toMatchObject({ trigger: 'content' });
  });

  test('is not detected if the runs find nothing new, or write only once per interval', () => {
    let schedule = started;
    for (let now = 0; now < 100; now += 1) schedule = run(requestRun(schedule, 'content'), now, same)[1];
    expect(step(requestRun(schedule, 'content'), 100).schedule.hot).toBeUndefined();
    for (let at = 1; at < 100; at += 1) schedule = run(schedule, at * intervalMs * 1.2, done(true))[1];
    expect(schedule.hot).toBeUndefined();
  });

  test('is not detected after a pause of half a minute for each further reconcile', () => {
    expect(due(requestRun(spent, 'content'), 19_000 + refillMs)).toEqual({ run: 'content' });
  });
});

describe('E135: a suspended schedule', () => {
  test('runs nothing until it is resumed, and then at once', () => {
    const still = suspend(started);
    expect(due(requestRun(still, 'request'), 10 * intervalMs)).toEqual({});
    expect(due(resume(still), 5)).toEqual({ run: 'resume' });
    expect(resume(started)).toBe(started);
  });

  test('lets a running reconcile complete', () => {
    const still = suspend(begin(started, 'content', 0));
    expect(still.running).toBe('content');
    expect(due(end(still, done(true), 10, 0.5), 10 * intervalMs)).toEqual({});
  });
});

testAnySchedule(50);
