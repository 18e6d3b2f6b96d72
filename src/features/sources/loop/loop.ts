import {
  begin,
  type Conclusion,
  createSchedule,
  end,
  isNew,
  resume,
  type Schedule,
  step,
  suspend,
  type Timing,
  type Trigger,
  want,
} from './schedule.ts';

/** Time and chance, which a test may choose. The time goes forward only, whatever happens to the clock on the wall. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Between 0 and 1. */
  random(): number;
}

/** The clock of this process. */
export const processClock: Clock = { now: () => performance.now(), random: Math.random };

/** What a loop does, and when. */
export interface LoopOptions {
  readonly timing: Timing;
  /** How long the first reconcile waits. */
  readonly delay?: number;
  /** Begins when it is resumed. */
  readonly suspended?: boolean;
  readonly clock: Clock;
  /** Reconciles once; does not throw. `fresh` says whether something else may come out than last time. */
  reconcile(trigger: Trigger, fresh: (key: string) => boolean): Promise<Conclusion>;
  /** The loop ran hot and was stopped, or stays so because a probe found something to change. */
  ranHot(trigger: Trigger): void;
}

/** A loop that runs. */
export interface Loop {
  want(trigger: Trigger): void;
  suspend(): void;
  resume(): void;
  /** In how many milliseconds the next reconcile is due, if it waits for a time. */
  dueIn(): number | undefined;
  /** Ends it; waits for a reconcile that is under way. */
  stop(): Promise<void>;
}

const longestTimer = 2 ** 31 - 1;

/** Runs a schedule: never two reconciles at once, and timers in place of moments. */
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
    if (schedule.hot !== undefined && conclusion.result === 'done') options.ranHot(schedule.hot.trigger);
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
    if (isHot && schedule.hot !== undefined) options.ranHot(schedule.hot.trigger);
    if ('run' in next.step) running = run(next.step.run);
    else if (next.step.until !== undefined)
      timer = setTimeout(advance, Math.min(Math.max(0, next.step.until - now), longestTimer));
  };
  const change = (to: Schedule): void => {
    schedule = to;
    advance();
  };

  advance();
  return {
    want: (trigger) => change(want(schedule, trigger)),
    suspend: () => change(suspend(schedule)),
    resume: () => change(resume(schedule)),
    dueIn() {
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
