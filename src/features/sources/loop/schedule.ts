/** Cause of a reconcile. */
export type Trigger =
  | 'start'
  | 'interval'
  | 'content'
  | 'hint'
  | 'retry'
  | 'probe'
  | 'request'
  | 'approval'
  | 'settings'
  | 'resume';

/** Times in milliseconds, and the size of the token bucket that detects hot loops. */
export interface Timing {
  readonly intervalMs: number;
  /** Maximum deviation of an interval, as a share of it. */
  readonly jitter: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
  /**
   * Size of the token bucket. A reconcile takes a token when its content was reconciled before and it changes something
   * or answers an event.
   */
  readonly burst: number;
  /** Time after which the bucket gets one more token. */
  readonly refillMs: number;
  /** Interval at which a loop that was stopped for running hot is checked. */
  readonly probeMs: number;
  /** Minimum time between two reconciles that answer hints, which need no credentials. */
  readonly hintGapMs: number;
  /** Duration of a reconcile after which the status shows that it is running. */
  readonly slowMs: number;
}

/** Default timing of a source. */
export const defaultTiming: Timing = {
  intervalMs: 5 * 60_000,
  jitter: 0.1,
  firstRetryMs: 1000,
  lastRetryMs: 5 * 60_000,
  burst: 20,
  refillMs: 30_000,
  probeMs: 5 * 60_000,
  hintGapMs: 5000,
  slowMs: 1000,
};

/**
 * State from which the time of the next reconcile follows. Immutable. Times are those of a clock that only moves
 * forward.
 */
export interface Schedule {
  readonly timing: Timing;
  readonly running?: Trigger;
  /** Cause of the requested reconcile. Any number of events count as one request. */
  readonly requested?: Trigger;
  readonly nextAt: number;
  readonly retryAt?: number;
  readonly failures: number;
  readonly tokens: number;
  readonly tokensAt: number;
  readonly hintAt: number;
  /** Present when the loop ran hot and is stopped, except for probes. `trigger` is what drove it. */
  readonly hot?: { readonly trigger: Trigger; readonly probeAt: number };
  readonly suspended: boolean;
  /** Key of the last conclusion. The same input is not tried again. */
  readonly concluded?: string;
  /** Contents that were reconciled recently, the newest last. */
  readonly contents: readonly string[];
}

/** Maximum number of remembered contents. A longer cycle counts as editing. */
const maxContents = 100;

/**
 * Result of a reconcile. `key` identifies everything on which the result depended, `content` identifies what the source
 * contains.
 */
export type Conclusion =
  /** There was nothing new. */
  | { readonly result: 'same' }
  | { readonly result: 'done'; readonly key: string; readonly content: string; readonly wrote: boolean }
  /** The same input would be refused again. */
  | { readonly result: 'refused'; readonly key: string; readonly content: string }
  /**
   * Something could not be reached, and the next attempt may succeed. `isLost`: the lease is lost, so this server makes
   * no further attempt.
   */
  | { readonly result: 'failed'; readonly isLost?: true };

/** What to do now: reconcile, or wait until a time. Without a time: wait for an event. */
export type Step = { readonly run: Trigger } | { readonly until?: number };

/** Creates a schedule. Its first reconcile is due after `delay` milliseconds. */
export function createSchedule(timing: Timing, now: number, delay = 0): Schedule {
  const start = delay === 0 ? { requested: 'start' as const } : {};
  return {
    timing,
    ...start,
    nextAt: now + delay,
    failures: 0,
    tokens: timing.burst,
    tokensAt: now,
    hintAt: now,
    suspended: false,
    contents: [],
  };
}

/** Triggers that are caused by a person. They are always carried out, and they restart a stopped loop. */
const manualTriggers: ReadonlySet<Trigger> = new Set<Trigger>(['request', 'approval', 'settings', 'resume']);

/** Triggers that report that the content may have changed. */
const eventTriggers: ReadonlySet<Trigger> = new Set<Trigger>(['content', 'hint']);

/** Requests a reconcile. If one is running, the requested one follows it. */
export function requestRun(schedule: Schedule, trigger: Trigger): Schedule {
  if (schedule.suspended) return schedule;
  const { requested } = schedule;
  if (requested !== undefined && rank(requested) >= rank(trigger)) return schedule;
  return { ...schedule, requested: trigger };
}

function rank(trigger: Trigger): number {
  // A request covers everything that the other triggers ask for, and a caller waits for it.
  if (trigger === 'request') return 4;
  if (manualTriggers.has(trigger)) return 3;
  return trigger === 'hint' ? 1 : 2;
}

/** Returns what to do now. Stops a loop that has used up its tokens. */
export function step(schedule: Schedule, now: number): { readonly schedule: Schedule; readonly step: Step } {
  if (schedule.running !== undefined || schedule.suspended) return { schedule, step: {} };
  const { requested, hot } = schedule;
  if (requested !== undefined && manualTriggers.has(requested)) return { schedule, step: { run: requested } };
  if (hot !== undefined) return { schedule, step: hot.probeAt <= now ? { run: 'probe' } : { until: hot.probeAt } };
  const { trigger, at } = earliest(schedule);
  if (at > now) return { schedule, step: { until: at } };
  if (countTokens(schedule, now) >= 1) return { schedule, step: { run: trigger } };
  const probeAt = now + schedule.timing.probeMs;
  return { schedule: { ...schedule, hot: { trigger, probeAt } }, step: { until: probeAt } };
}

function earliest(schedule: Schedule): { readonly trigger: Trigger; readonly at: number } {
  const { requested, retryAt, nextAt, hintAt } = schedule;
  const own = { trigger: 'interval' as Trigger, at: nextAt };
  const retry = retryAt === undefined || retryAt > own.at ? own : { trigger: 'retry' as Trigger, at: retryAt };
  if (requested === undefined) return retry;
  const asked = { trigger: requested, at: requested === 'hint' ? hintAt : Number.NEGATIVE_INFINITY };
  return asked.at <= retry.at ? asked : retry;
}

/** Records that a reconcile begins. It answers all earlier requests. */
export function begin(schedule: Schedule, trigger: Trigger, now: number): Schedule {
  const { requested: _, retryAt: __, ...rest } = schedule;
  const hintAt = trigger === 'hint' ? now + schedule.timing.hintGapMs : schedule.hintAt;
  const begun = { ...rest, running: trigger, hintAt };
  if (!manualTriggers.has(trigger)) return begun;
  const { hot: ___, concluded, ...cool } = begun;
  // Settings are part of the key of a conclusion, so the conclusion is kept. A request by hand always tries again.
  const kept = trigger === 'settings' && concluded !== undefined ? { concluded } : {};
  return { ...cool, ...kept, failures: 0, tokens: schedule.timing.burst, tokensAt: now };
}

/** Whether the result may differ from that of the last run. */
export function isNew({ concluded }: Schedule, key: string): boolean {
  return concluded !== key;
}

/** Records that a reconcile ended. `random` is between 0 and 1. */
export function end(schedule: Schedule, conclusion: Conclusion, now: number, random: number): Schedule {
  const { running: trigger = 'start', retryAt: _, ...rest } = schedule;
  const nextAt = now + randomInterval(schedule.timing, random);
  const spent = spendToken(rest, trigger, conclusion, now);
  if (conclusion.result === 'failed') {
    const failures = schedule.failures + 1;
    const { concluded: __, ...open } = spent;
    return {
      ...coolDown(open, false, now),
      nextAt,
      failures,
      retryAt: now + retryDelay(schedule.timing, failures, random),
    };
  }
  const quiet = conclusion.result !== 'done' || !conclusion.wrote;
  const key =
    conclusion.result === 'same' ? {} : { concluded: conclusion.key, contents: withContent(spent, conclusion) };
  return { ...coolDown(spent, quiet, now), ...key, nextAt, failures: 0 };
}

function withContent({ contents }: Schedule, { content }: { readonly content: string }): readonly string[] {
  if (contents.at(-1) === content) return contents;
  return [...contents.filter((other) => other !== content), content].slice(-maxContents);
}

/**
 * Takes a token for a run that changed something or was triggered by an event. A poll that finds nothing is free. New
 * content is free too, however fast it is edited: only writers that undo each other return to earlier content.
 */
function spendToken(schedule: Schedule, trigger: Trigger, conclusion: Conclusion, now: number): Schedule {
  if (conclusion.result === 'same' || conclusion.result === 'failed') return schedule;
  if (!schedule.contents.includes(conclusion.content)) return schedule;
  const wrote = conclusion.result === 'done' && conclusion.wrote;
  if (!wrote && !eventTriggers.has(trigger)) return schedule;
  return { ...schedule, tokens: Math.max(0, countTokens(schedule, now) - 1), tokensAt: now };
}

/** Ends the stop of a hot loop when a probe found nothing to change. Otherwise schedules another probe. */
function coolDown(schedule: Schedule, quiet: boolean, now: number): Schedule {
  const { hot, ...cool } = schedule;
  if (hot === undefined || quiet) return cool;
  return { ...cool, hot: { ...hot, probeAt: now + schedule.timing.probeMs } };
}

/** Suspends the loop. A running reconcile completes. */
export function suspend(schedule: Schedule): Schedule {
  const { requested: _, retryAt: __, ...rest } = schedule;
  return { ...rest, suspended: true };
}

/** Resumes a suspended loop, with a reconcile at once. */
export function resume(schedule: Schedule): Schedule {
  return schedule.suspended ? requestRun({ ...schedule, suspended: false }, 'resume') : schedule;
}

function countTokens({ tokens, tokensAt: at, timing }: Schedule, now: number): number {
  return Math.min(timing.burst, tokens + (now - at) / timing.refillMs);
}

function randomInterval({ intervalMs, jitter }: Timing, random: number): number {
  return intervalMs * (1 - jitter + 2 * jitter * random);
}

/**
 * Returns a random delay between the first delay and one that doubles with each failure, so that many sources do not
 * retry at the same time.
 */
function retryDelay({ firstRetryMs, lastRetryMs }: Timing, failures: number, random: number): number {
  const longest = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(failures, 30));
  return firstRetryMs + random * (longest - firstRetryMs);
}
