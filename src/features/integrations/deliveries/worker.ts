import type { Engine } from '../../../commit/engine.ts';
import {
  advance,
  beginBatch,
  cancelRetries,
  dropDelivery,
  endBatch,
  endSetAside,
  type HeldDelivery,
  noteFailure,
  postpone,
  reportFailure,
  setAside,
} from '../../../db/deliveries/progress.ts';
import { type DeliveryRow, readWork } from '../../../db/deliveries/work.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { EventFeed } from '../../../model/declare/list-words.ts';
import { Internal } from '../../../model/errors.ts';
import { tracedRoot } from '../../../telemetry/span.ts';
import type { Hold as HeldLease } from '../held-work.ts';
import { type Delays, usualDelays } from './backoff.ts';
import { failedCode, type NextBatch, nextBatch, type Parts } from './batch.ts';
import { openChannel, readChannel } from './channels.ts';
import { deliveryEvent, eventName } from './events.ts';
import { type Refusal, sendRun } from './run.ts';
import type { Channel, DeliveryEvent, Target, Verdict, WindowSize } from './target.ts';

/** Options that the workers of all deliveries share. */
export interface WorkerOptions {
  readonly engine: Engine;
  /** Returns the target of a channel, or `undefined` when no events are sent. */
  readonly open: (channel: Channel) => Target | undefined;
  /** Returns a number between 0 and 1. */
  random(): number;
  /** Absent: from 1 s to 10 min, and an hour while a channel is paused. */
  readonly delays?: Delays;
}

/** One delivery whose lease this server holds. */
interface Hold extends HeldLease {
  readonly channel: string;
  /** Feeds with something to send. They take turns. */
  readonly feeds: readonly EventFeed[];
}

/** Amount of waiting events that is read at once, unless a target asks for more. */
const usualWindow: WindowSize = { events: 500, bytes: 4_000_000 };

/**
 * Minimum number of waiting events at which a target that waits is queried early. Usually it is queried when twice as
 * many events wait.
 */
const fewest = 1000;

/** Number of failures in a row after which an event reports them. */
const failuresUntilReport = 5;

/** Maximum number of events that are set aside. With more of them, the fault is the receiver's. */
const mostSetAside = 1000;

/** Actor of the events that deliveries write themselves. */
const actor: Actor = { type: 'system', id: 'sys', name: 'system' };

/**
 * Delivers the events that wait for one channel, in order, until none is left, an attempt fails, or the lease is lost.
 * After any interruption, the next worker continues behind the recorded cursor: an event may be sent twice, but none is
 * left out.
 */
export async function workOn(options: WorkerOptions, hold: Hold): Promise<void> {
  let turns: readonly Progress[] = hold.feeds.map((feed) => ({ feed, window: usualWindow }));
  while (!hold.signal.aborted) {
    const [progress, ...others] = turns;
    if (progress === undefined) return;
    const step = await takeStep(options, hold, progress);
    if (step === 'stop') return;
    turns = step === 'done' ? others : [...others, continued(progress, step)];
  }
}

function continued(
  { feed, ...before }: Progress,
  { parts = before.parts, window = before.window, rest }: StepResult,
): Progress {
  return { feed, parts, window, rest };
}

/** Progress of the work on one feed of a delivery. */
interface Progress {
  readonly feed: EventFeed;
  /** How a refused batch is sent in parts. */
  readonly parts?: Parts | undefined;
  /** Amount of events that is read at once. */
  readonly window: WindowSize;
  /** Events that were read already and are sent next. */
  readonly rest?: Rest | undefined;
}

/**
 * Events that were read and not sent yet. They are valid while the delivery's generation is the same, which means that
 * the cursor was not moved by another action.
 */
interface Rest {
  readonly generation: number;
  readonly events: readonly DeliveryEvent[];
}

type StepResult = Partial<Omit<Progress, 'feed'>>;

/**
 * Result of a step: the changed progress for another step, `done` when nothing more of this feed can be sent now, or
 * `stop` for all feeds.
 */
type Step = 'done' | 'stop' | StepResult;

const goOn: StepResult = {};

async function takeStep(options: WorkerOptions, hold: Hold, progress: Progress): Promise<Step> {
  const { database } = options.engine;
  const { feed, rest } = progress;
  const work = await readWork(database, { ...hold, feed }, rest === undefined ? progress.window : nothing);
  if (work === undefined) return 'done';
  const { row } = work;
  if (row.spec === null) {
    await dropDelivery(database, hold.account, hold.channel);
    return 'stop';
  }
  // A delivery whose settings changed since its last attempt is tried at once.
  if (row.wait_ms > 0 && row.tried_revision === row.updated_revision) return 'stop';
  if (rest !== undefined && rest.generation !== row.generation) return goOn;
  const held = { ...hold, feed, generation: row.generation };
  const { channel, target, fault } = openTarget(options, hold, row, row.spec);
  const attempt = { options, held, row, channel, signal: hold.signal };
  if (fault !== undefined) return fail(attempt, { outcome: 'pause', reason: fault });
  if (work.again !== undefined) return sendAgain(attempt, target, deliveryEvent(work.again, feed));
  const events = rest?.events ?? work.events.map((event) => deliveryEvent(event, feed));
  if (isCut(events, row.batch_end, progress.window, target?.window)) return { window: target?.window ?? usualWindow };
  return sendNext(attempt, target, events, progress.parts);
}

const nothing: WindowSize = { events: 0, bytes: 0 };

/**
 * Whether a target must be shown more events than were read. A batch that was begun is shown to its end, otherwise it
 * would become another batch.
 */
function isCut(
  events: readonly DeliveryEvent[],
  batchEnd: number | null,
  read: WindowSize,
  asked: WindowSize | undefined,
): boolean {
  if (asked === undefined) return false;
  if (asked.events > read.events && events.length >= read.events) return true;
  const isMore = asked.events > read.events || asked.bytes > read.bytes;
  return isMore && batchEnd !== null && (events.at(-1)?.id ?? batchEnd) < batchEnd;
}

interface Opened {
  readonly channel: Channel;
  readonly target?: Target | undefined;
  /** Reason why the settings cannot be used. */
  readonly fault?: string;
}

/** Returns the channel and its target. Secrets are opened only for channels to which something is sent. */
function openTarget({ engine, open }: WorkerOptions, hold: Hold, row: DeliveryRow, spec: object): Opened {
  const stored = { account: hold.account, id: hold.channel, kind: row.kind, spec: { ...spec } };
  const channel = readChannel(stored);
  if (!channel.enabled || channel.settings === undefined) return { channel };
  try {
    const opened = openChannel(engine, stored);
    return { channel: opened, target: open(opened) };
  } catch (error) {
    if (!(error instanceof Internal)) throw error;
    return { channel, fault: `${error.message}; set the secret again` };
  }
}

interface Attempt {
  readonly options: WorkerOptions;
  readonly held: HeldDelivery;
  readonly row: DeliveryRow;
  readonly channel: Channel;
  readonly signal: AbortSignal;
}

/** Sends an event that was set aside again. Without a target, cancels all such repetitions. */
async function sendAgain(attempt: Attempt, target: Target | undefined, event: DeliveryEvent): Promise<Step> {
  if (target === undefined) return isWritten(await cancelRetries(databaseOf(attempt), attempt.held));
  const verdict = await deliver(attempt, target, [event]);
  if (verdict.outcome === 'accepted') return isWritten(await endSetAside(databaseOf(attempt), attempt.held, event.id));
  if (verdict.outcome !== 'refused') return fail(attempt, verdict);
  return isWritten(await setAside(databaseOf(attempt), attempt.held, event.id, verdict.reason));
}

/** Sends the next events, or moves the cursor behind events to which the channel does not subscribe. */
async function sendNext(
  attempt: Attempt,
  target: Target | undefined,
  window: readonly DeliveryEvent[],
  parts: Parts | undefined,
): Promise<Step> {
  const { held, channel, row } = attempt;
  if (window.length === 0 && row.cursor >= row.newest) return 'done';
  const end = row.batch_end ?? undefined;
  const left = row.batch_left ?? undefined;
  const batch = nextBatch(window, channel, target, { end, left, parts, newest: row.newest });
  const database = databaseOf(attempt);
  if ('afterMs' in batch) {
    const behind = Math.max(fewest, 2 * (row.newest - row.cursor));
    await postpone(database, held, { afterMs: batch.afterMs, behind });
    return 'done';
  }
  const { events, cursor } = batch;
  if (events.length === 0 || target === undefined)
    return isWritten(await advance(database, held, cursor, { delivered: false }));
  if (row.set_aside >= mostSetAside) return fail(attempt, { outcome: 'pause', reason: tooManySetAside });
  const isKept = events.length > 1 || target.repeatsBatches === true;
  const isPart = parts !== undefined && batch.end <= parts.to;
  if (isKept && batch.end !== end && !(await beginBatch(database, held, batch.end))) return 'stop';
  const run = await sendRun(
    {
      send: (one) => deliver(attempt, target, one.events),
      next: (behind) => nextBatch(after(window, behind), channel, target, { parts, newest: row.newest }),
      mostMs: isKept || isPart ? 0 : mostRunMs,
      signal: attempt.signal,
    },
    batch,
  );
  const { accepted, note, refusal } = run;
  if (accepted !== undefined && !(await advance(database, held, accepted.cursor, { delivered: true, note })))
    return 'stop';
  if (refusal === undefined)
    return {
      rest: accepted === undefined ? undefined : restOf(attempt, window, accepted),
      // An accepted part did not contain the refused event, so the next part may be twice as large.
      ...(isPart ? { parts: { ...parts, events: 2 * parts.events } } : {}),
    };
  // Batches that were accepted before the failure ended the series of failures.
  const last = accepted === undefined ? attempt : { ...attempt, row: { ...row, failures: 0, reported: false } };
  return failBatch(last, refusal, parts);
}

/** Time for which single events are sent before the new cursor is recorded, in milliseconds. */
const mostRunMs = 250;

async function failBatch(attempt: Attempt, { batch, verdict }: Refusal, parts: Parts | undefined): Promise<Step> {
  const { held, row } = attempt;
  const [first] = batch.events;
  if (verdict.outcome !== 'refused') return fail(attempt, verdict);
  if (first === undefined || batch.events.length > 1)
    return (await endBatch(databaseOf(attempt), held)) ? { parts: partsOf(batch, parts) } : 'stop';
  const step = isWritten(await setAside(databaseOf(attempt), held, first.id, verdict.reason));
  if (step !== 'stop' && row.set_aside === 0)
    await announce(attempt, `${verdict.reason} to the event ${eventName(first)}, which was set aside`);
  return step;
}

function partsOf({ events, end }: NextBatch, parts: Parts | undefined): Parts {
  return { to: Math.max(end, parts?.to ?? end), events: Math.max(1, Math.floor(events.length / 2)) };
}

/** Returns the events that were read and are sent next, unless reading again may show the target more of them. */
function restOf({ row }: Attempt, window: readonly DeliveryEvent[], { events, cursor }: NextBatch): Rest | undefined {
  const left = after(window, cursor);
  return left.length > 0 && left.length >= events.length ? { generation: row.generation, events: left } : undefined;
}

function after(events: readonly DeliveryEvent[], cursor: number): readonly DeliveryEvent[] {
  return events.filter(({ id }) => id > cursor);
}

const tooManySetAside = `${mostSetAside} events are set aside; send them again or discard them first`;

function isWritten(written: boolean): Step {
  return written ? goOn : 'stop';
}

function databaseOf({ options }: Attempt): Engine['database'] {
  return options.engine.database;
}

/** Maximum number of request ids in the span of a delivery. */
const mostNamed = 20;

async function deliver(
  { options, channel, held }: Attempt,
  target: Target,
  batch: readonly DeliveryEvent[],
): Promise<Verdict> {
  const begun = performance.now();
  const requests = batch.flatMap(({ requestId }) => requestId ?? []);
  const about = {
    ...{ 'heddle.account': held.account, 'heddle.channel': channel.id, 'heddle.channel.type': channel.type },
    ...{ 'heddle.events': batch.length, 'heddle.request_id': [...new Set(requests)].slice(0, mostNamed) },
  };
  const verdict = await tracedRoot(options.engine.tracer, 'deliver', about, async (span) => {
    const answered = await target.deliver(batch);
    span?.set({ 'heddle.outcome': answered.outcome });
    return answered;
  });
  const seconds = (performance.now() - begun) / 1000;
  const { outcome } = verdict;
  options.engine.observer.report({ what: 'delivery', type: channel.type, outcome, events: batch.length, seconds });
  return verdict;
}

async function fail(
  attempt: Attempt,
  verdict: Extract<Verdict, { readonly outcome: 'retry' | 'pause' }>,
): Promise<Step> {
  const { options, held, row } = attempt;
  const paused = verdict.outcome === 'pause';
  const failures = row.failures + 1;
  const { delays = usualDelays } = options;
  const random = options.random();
  const waitMs = verdict.outcome === 'pause' ? delays.pause(random) : delays.retry(failures, random, verdict.afterMs);
  const revision = row.updated_revision ?? 0;
  const left = verdict.outcome === 'retry' ? verdict.left : undefined;
  const noted = await noteFailure(databaseOf(attempt), held, {
    reason: verdict.reason,
    paused,
    waitMs,
    revision,
    left,
  });
  if (noted && !row.reported && (paused || failures >= failuresUntilReport)) await announce(attempt, verdict.reason);
  return 'stop';
}

/** Writes the audit event about a failing delivery. */
async function announce({ options, held, row, channel }: Attempt, reason: string): Promise<void> {
  const { engine } = options;
  const event = { code: failedCode, target: channel.id, meta: { kind: row.kind, type: channel.type, reason } } as const;
  await reportFailure(engine.database, held, { actor, event, at: engine.now() });
}
