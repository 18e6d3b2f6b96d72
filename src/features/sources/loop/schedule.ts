/** Why a source is reconciled. */
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

/** Times in milliseconds, and the size of the bucket. */
export interface Timing {
  readonly intervalMs: number;
  /** How far an interval may be off, as a share of it. */
  readonly jitter: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
  /** So many reconciles of content that was reconciled before may change something, or answer an event, at once. */
  readonly burst: number;
  /** One more is allowed after so long. */
  readonly refillMs: number;
  /** How often it is looked whether a loop that was stopped for running hot has cooled down. */
  readonly probeMs: number;
  /** Hints, which anybody may send, lead to at most one reconcile in so long. */
  readonly hintGapMs: number;
  /** How long a reconcile lasts before its status says that it is under way. */
  readonly slowMs: number;
}

/** The times of a source that says nothing else. */
export const plainTiming: Timing = {
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

/** When a source is to be reconciled next: a value. Moments are those of a clock that only goes forward. */
export interface Schedule {
  readonly timing: Timing;
  readonly running?: Trigger;
  /** What asks for a reconcile. Any number of events are one. */
  readonly requested?: Trigger;
  readonly nextAt: number;
  readonly retryAt?: number;
  readonly failures: number;
  readonly tokens: number;
  readonly tokensAt: number;
  readonly hintAt: number;
  /** The loop ran hot and is stopped, but for probes; `trigger` is what drove it. */
  readonly hot?: { readonly trigger: Trigger; readonly probeAt: number };
  readonly suspended: boolean;
  /** What was concluded last: the same input is not tried again. */
  readonly concluded?: string;
  /** The contents that were reconciled lately, the newest last. */
  readonly contents: readonly string[];
}

/** So many contents are remembered: a longer cycle counts as editing. */
const mostContents = 100;

/** How a reconcile ended. `key` stands for all that its end depended on, `content` for what the source itself says. */
export type Conclusion =
  /** There was nothing new to look at. */
  | { readonly result: 'same' }
  | { readonly result: 'done'; readonly key: string; readonly content: string; readonly wrote: boolean }
  /** The same input would be refused again. */
  | { readonly result: 'refused'; readonly key: string; readonly content: string }
  /** Something was out of reach; the next try may succeed. `isLost`: the lease is, so that this server tries no more. */
  | { readonly result: 'failed'; readonly isLost?: true };

/** What to do now: reconcile, or wait, until a moment or (without one) for an event. */
export type Step = { readonly run: Trigger } | { readonly until?: number };

/** A schedule whose first reconcile comes after `delay`. */
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

/** These are the doing of a person: they are always heeded, and let a stopped loop run again. */
const deliberate: ReadonlySet<Trigger> = new Set<Trigger>(['request', 'approval', 'settings', 'resume']);

/** Triggers which say that the content may have changed. */
const events: ReadonlySet<Trigger> = new Set<Trigger>(['content', 'hint']);

/** Asks for a reconcile. While one is running, the next one follows it. */
export function want(schedule: Schedule, trigger: Trigger): Schedule {
  if (schedule.suspended) return schedule;
  const { requested } = schedule;
  if (requested !== undefined && rank(requested) >= rank(trigger)) return schedule;
  return { ...schedule, requested: trigger };
}

function rank(trigger: Trigger): number {
  // A request does all that the others ask for, and a caller waits for it.
  if (trigger === 'request') return 4;
  if (deliberate.has(trigger)) return 3;
  return trigger === 'hint' ? 1 : 2;
}

/** Says what to do at this moment. A loop that has used up its bucket is stopped here. */
export function step(schedule: Schedule, now: number): { readonly schedule: Schedule; readonly step: Step } {
  if (schedule.running !== undefined || schedule.suspended) return { schedule, step: {} };
  const { requested, hot } = schedule;
  if (requested !== undefined && deliberate.has(requested)) return { schedule, step: { run: requested } };
  if (hot !== undefined) return { schedule, step: hot.probeAt <= now ? { run: 'probe' } : { until: hot.probeAt } };
  const { trigger, at } = earliest(schedule);
  if (at > now) return { schedule, step: { until: at } };
  if (tokensAt(schedule, now) >= 1) return { schedule, step: { run: trigger } };
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

/** A reconcile begins: whatever asked until now is answered by it. */
export function begin(schedule: Schedule, trigger: Trigger, now: number): Schedule {
  const { requested: _, retryAt: __, ...rest } = schedule;
  const hintAt = trigger === 'hint' ? now + schedule.timing.hintGapMs : schedule.hintAt;
  const begun = { ...rest, running: trigger, hintAt };
  if (!deliberate.has(trigger)) return begun;
  const { hot: ___, concluded, ...cool } = begun;
  // Settings are part of the conclusion; a request by hand always tries again.
  const kept = trigger === 'settings' && concluded !== undefined ? { concluded } : {};
  return { ...cool, ...kept, failures: 0, tokens: schedule.timing.burst, tokensAt: now };
}

/** Whether something else would come out than last time. */
export function isNew({ concluded }: Schedule, key: string): boolean {
  return concluded !== key;
}

/** A reconcile ended. `random` is between 0 and 1. */
export function end(schedule: Schedule, conclusion: Conclusion, now: number, random: number): Schedule {
  const { running: trigger = 'start', retryAt: _, ...rest } = schedule;
  const nextAt = now + interval(schedule.timing, random);
  const spent = spend(rest, trigger, conclusion, now);
  if (conclusion.result === 'failed') {
    const failures = schedule.failures + 1;
    const { concluded: __, ...open } = spent;
    return {
      ...cooled(open, false, now),
      nextAt,
      failures,
      retryAt: now + retryDelay(schedule.timing, failures, random),
    };
  }
  const quiet = conclusion.result !== 'done' || !conclusion.wrote;
  const key =
    conclusion.result === 'same' ? {} : { concluded: conclusion.key, contents: withContent(spent, conclusion) };
  return { ...cooled(spent, quiet, now), ...key, nextAt, failures: 0 };
}

function withContent({ contents }: Schedule, { content }: { readonly content: string }): readonly string[] {
  if (contents.at(-1) === content) return contents;
  return [...contents.filter((other) => other !== content), content].slice(-mostContents);
}

/**
 * Takes a token for a run that changed something or was triggered by events; a poll that finds nothing is free. So is
 * new content, however fast it is edited: writers who undo each other come back to content that was there before.
 */
function spend(schedule: Schedule, trigger: Trigger, conclusion: Conclusion, now: number): Schedule {
  if (conclusion.result === 'same' || conclusion.result === 'failed') return schedule;
  if (!schedule.contents.includes(conclusion.content)) return schedule;
  const wrote = conclusion.result === 'done' && conclusion.wrote;
  if (!wrote && !events.has(trigger)) return schedule;
  return { ...schedule, tokens: Math.max(0, tokensAt(schedule, now) - 1), tokensAt: now };
}

/** A probe that finds nothing to change ends the stop; another one follows otherwise. */
function cooled(schedule: Schedule, quiet: boolean, now: number): Schedule {
  const { hot, ...cool } = schedule;
  if (hot === undefined || quiet) return cool;
  return { ...cool, hot: { ...hot, probeAt: now + schedule.timing.probeMs } };
}

/** Stops the loop; a reconcile that is running completes. */
export function suspend(schedule: Schedule): Schedule {
  const { requested: _, retryAt: __, ...rest } = schedule;
  return { ...rest, suspended: true };
}

/** Lets a suspended loop run again, at once. */
export function resume(schedule: Schedule): Schedule {
  return schedule.suspended ? want({ ...schedule, suspended: false }, 'resume') : schedule;
}

function tokensAt({ tokens, tokensAt: at, timing }: Schedule, now: number): number {
  return Math.min(timing.burst, tokens + (now - at) / timing.refillMs);
}

function interval({ intervalMs, jitter }: Timing, random: number): number {
  return intervalMs * (1 - jitter + 2 * jitter * random);
}

/** Anywhere between the first delay and one that doubles, so that many sources do not come back together. */
function retryDelay({ firstRetryMs, lastRetryMs }: Timing, failures: number, random: number): number {
  const longest = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(failures, 30));
  return firstRetryMs + random * (longest - firstRetryMs);
}
