import {
  begin,
  type Conclusion,
  createSchedule,
  end,
  isNew,
  requestRun,
  resume,
  type Schedule,
  step,
  suspend,
  type Timing,
  type Trigger,
} from './schedule.ts';

/**
 * Time and random numbers, which a test may replace. The time only moves forward, whatever happens to the system clock.
 */
export interface Clock {
  /** Returns the milliseconds since an arbitrary fixed moment. */
  now(): number;
  /** Returns a random number between 0 and 1. */
  random(): number;
}

/** The clock of this process. */
export const processClock: Clock = { now: () => performance.now(), random: Math.random };

/** What a loop does, and when. */
export interface LoopOptions {
  readonly timing: Timing;
  /** Delay of the first reconcile, in milliseconds. */
  readonly delay?: number;
  /** True: the loop does not begin before it is resumed. */
  readonly suspended?: boolean;
  readonly clock: Clock;
  /**
   * Reconciles once. Does not throw. `fresh` returns whether the result may differ from that of the last run, given the
   * key of the input.
   */
  reconcile(trigger: Trigger, fresh: (key: string) => boolean): Promise<Conclusion>;
  /**
   * Called when the loop ran hot and was stopped, or when it stays stopped because a probe found something to change.
   */
  onRanHot(trigger: Trigger): void;
}

/** A running loop. */
export interface Loop {
  request(trigger: Trigger): void;
  suspend(): void;
  resume(): void;
  /**
   * Returns the time until the next reconcile in milliseconds, or `undefined` when the loop does not wait for a time.
   */
  msUntilDue(): number | undefined;
  /** Stops the loop. Waits for a running reconcile. */
  stop(): Promise<void>;
}

const maxTimerMs = 2 ** 31 - 1;

/** Runs a schedule with timers. Never runs two reconciles at once. */
export function runLoop(options: LoopOptions): Loop {
  const { clock } = options;
  const first = createSchedule(options.timing, clock.now(), options.delay);
  let schedule: Schedule = options.suspended === true ? suspend(first) : first;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let stopped = false;

  const run = async (trigger: Trigger): Promise<void> => {
    schedule = begin(schedule, trigger, clock.now());
    const conclusion = await options.reconcile(trigger, (key) => isNew(schedule, key));
    schedule = end(schedule, conclusion, clock.now(), clock.random());
    if (schedule.hot !== undefined && conclusion.result === 'done') options.onRanHot(schedule.hot.trigger);
    running = undefined;
    advance();
  };
  const advance = (): void => {
    clearTimeout(timer);
    if (stopped || running !== undefined) return;
    const now = clock.now();
    const next = step(schedule, now);
    const isHot = next.schedule.hot !== undefined && schedule.hot === undefined;
    schedule = next.schedule;
    if (isHot && schedule.hot !== undefined) options.onRanHot(schedule.hot.trigger);
    if ('run' in next.step) running = run(next.step.run);
    else if (next.step.until !== undefined)
      timer = setTimeout(advance, Math.min(Math.max(0, next.step.until - now), maxTimerMs));
  };
  const change = (to: Schedule): void => {
    schedule = to;
    advance();
  };

  advance();
  return {
    request: (trigger) => change(requestRun(schedule, trigger)),
    suspend: () => change(suspend(schedule)),
    resume: () => change(resume(schedule)),
    msUntilDue() {
      const next = step(schedule, clock.now()).step;
      return 'until' in next && next.until !== undefined ? next.until - clock.now() : undefined;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
