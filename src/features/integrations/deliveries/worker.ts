import type { Engine } from '../../../commit/engine.ts';
import {
  advanceCursor,
  beginBatch,
  cancelRetries,
  deleteSetAside,
  dropDelivery,
  endBatch,
  type HeldDelivery,
  postponeEvents,
  recordFailure,
  reportFailure,
  setEventAside,
} from '../../../db/deliveries/progress.ts';
import { type DeliveryRow, readWork } from '../../../db/deliveries/work.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import type { EventFeed } from '../../../model/declare/list-words.ts';
import { Internal } from '../../../model/errors.ts';
import { tracedRoot } from '../../../telemetry/span.ts';
import type { RunningJob as HeldLease } from '../job-runner.ts';
import { type Delays, defaultDelays } from './backoff.ts';
import { type BatchParts, deliveryFailedCode, type NextBatch, nextBatch } from './batch.ts';
import { openChannel, readChannel } from './channels.ts';
import { deliveryEvent, eventName } from './events.ts';
import { type Refusal, sendBatches } from './run.ts';
import type { Channel, DeliveryEvent, DeliveryTarget, Verdict, WindowSize } from './target.ts';

/** Options that the workers of all deliveries share. */
export interface WorkerOptions {
  readonly engine: Engine;
  /** Returns the target of a channel, or `undefined` when no events are sent. */
  readonly open: (channel: Channel) => DeliveryTarget | undefined;
  /** Returns a number between 0 and 1. */
  random(): number;
  /** Absent: from 1 s to 10 min, and an hour while a channel is paused. */
  readonly delays?: Delays;
}

/** One delivery whose lease this server holds. */
interface RunningDelivery extends HeldLease {
  readonly channel: string;
  /** Feeds with something to send. They take turns. */
  readonly feeds: readonly EventFeed[];
}

/** Amount of waiting events that is read at once, unless a target asks for more. */
const defaultWindow: WindowSize = { events: 500, bytes: 4_000_000 };

/**
 * Minimum number of waiting events at which a target that waits is queried early. Usually it is queried when twice as
 * many events wait.
 */
const minEarlyEvents = 1000;

/** Number of failures in a row after which an event reports them. */
const failuresUntilReport = 5;

/** Maximum number of events that are set aside. With more of them, the fault is the receiver's. */
const maxSetAside = 1000;

/** Actor of the events that deliveries write themselves. */
const systemActor: Actor = { type: 'system', id: 'sys', name: 'system' };

/**
 * Delivers the events that wait for one channel, in order, until none is left, an attempt fails, or the lease is lost.
 * After any interruption, the next worker continues behind the recorded cursor: an event may be sent twice, but none is
 * left out.
 */
export async function deliverChannel(options: WorkerOptions, hold: RunningDelivery): Promise<void> {
  let turns: readonly Progress[] = hold.feeds.map((feed) => ({ feed, window: defaultWindow }));
  while (!hold.signal.aborted) {
    const [progress, ...others] = turns;
    if (progress === undefined) return;
    const step = await takeStep(options, hold, progress);
    if (step === 'stop') return;
    turns = step === 'done' ? others : [...others, nextProgress(progress, step)];
  }
}

function nextProgress(
  { feed, ...before }: Progress,
  { parts = before.parts, window = before.window, unsent }: StepResult,
): Progress {
  return { feed, parts, window, unsent };
}

/** Progress of the work on one feed of a delivery. */
interface Progress {
  readonly feed: EventFeed;
  /** How a refused batch is sent in parts. */
  readonly parts?: BatchParts | undefined;
  /** Amount of events that is read at once. */
  readonly window: WindowSize;
  /** Events that were read already and are sent next. */
  readonly unsent?: UnsentEvents | undefined;
}

/**
 * Events that were read and not sent yet. They are valid while the delivery's generation is the same, which means that
 * the cursor was not moved by another action.
 */
interface UnsentEvents {
  readonly generation: number;
  readonly events: readonly DeliveryEvent[];
}

type StepResult = Partial<Omit<Progress, 'feed'>>;

/**
 * Result of a step: the changed progress for another step, `done` when nothing more of this feed can be sent now, or
 * `stop` for all feeds.
 */
type Step = 'done' | 'stop' | StepResult;

const continueStep: StepResult = {};

async function takeStep(options: WorkerOptions, hold: RunningDelivery, progress: Progress): Promise<Step> {
  const { database } = options.engine;
  const { feed, unsent } = progress;
  const work = await readWork(database, { ...hold, feed }, unsent === undefined ? progress.window : emptyWindow);
  if (work === undefined) return 'done';
  const { row } = work;
  if (row.spec === null) {
    await dropDelivery(database, hold.account, hold.channel);
    return 'stop';
  }
  // A delivery whose settings changed since its last attempt is tried at once.
  if (row.wait_ms > 0 && row.tried_revision === row.updated_revision) return 'stop';
  if (unsent !== undefined && unsent.generation !== row.generation) return continueStep;
  const held = { ...hold, feed, generation: row.generation };
  const { channel, target, fault } = openTarget(options, hold, row, row.spec);
  const attempt = { options, held, row, channel, signal: hold.signal };
  if (fault !== undefined) return recordFailedAttempt(attempt, { outcome: 'pause', reason: fault });
  if (work.eventToRetry !== undefined) return resendSetAside(attempt, target, deliveryEvent(work.eventToRetry, feed));
  const events = unsent?.events ?? work.events.map((event) => deliveryEvent(event, feed));
  if (needsLargerWindow(events, row.batch_end, progress.window, target?.window))
    return { window: target?.window ?? defaultWindow };
  return sendNext(attempt, target, events, progress.parts);
}

const emptyWindow: WindowSize = { events: 0, bytes: 0 };

/**
 * Whether a target must be shown more events than were read. A batch that was begun is shown to its end, otherwise it
 * would become another batch.
 */
function needsLargerWindow(
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

interface OpenedTarget {
  readonly channel: Channel;
  readonly target?: DeliveryTarget | undefined;
  /** Reason why the settings cannot be used. */
  readonly fault?: string;
}

/** Returns the channel and its target. Secrets are opened only for channels to which something is sent. */
function openTarget(
  { engine, open }: WorkerOptions,
  hold: RunningDelivery,
  row: DeliveryRow,
  spec: object,
): OpenedTarget {
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
async function resendSetAside(
  attempt: Attempt,
  target: DeliveryTarget | undefined,
  event: DeliveryEvent,
): Promise<Step> {
  if (target === undefined) return stepAfterWrite(await cancelRetries(databaseOf(attempt), attempt.held));
  const verdict = await deliver(attempt, target, [event]);
  if (verdict.outcome === 'accepted')
    return stepAfterWrite(await deleteSetAside(databaseOf(attempt), attempt.held, event.id));
  if (verdict.outcome !== 'refused') return recordFailedAttempt(attempt, verdict);
  return stepAfterWrite(await setEventAside(databaseOf(attempt), attempt.held, event.id, verdict.reason));
}

/** Sends the next events, or moves the cursor behind events to which the channel does not subscribe. */
async function sendNext(
  attempt: Attempt,
  target: DeliveryTarget | undefined,
  window: readonly DeliveryEvent[],
  parts: BatchParts | undefined,
): Promise<Step> {
  const { held, channel, row } = attempt;
  if (window.length === 0 && row.cursor >= row.newest) return 'done';
  const end = row.batch_end ?? undefined;
  const left = row.batch_left ?? undefined;
  const batch = nextBatch(window, channel, target, { end, unacceptedEvents: left, parts, newest: row.newest });
  const database = databaseOf(attempt);
  if ('afterMs' in batch) {
    const behind = Math.max(minEarlyEvents, 2 * (row.newest - row.cursor));
    await postponeEvents(database, held, { afterMs: batch.afterMs, behind });
    return 'done';
  }
  const { events, cursor } = batch;
  if (events.length === 0 || target === undefined)
    return stepAfterWrite(await advanceCursor(database, held, cursor, { delivered: false }));
  if (row.set_aside >= maxSetAside)
    return recordFailedAttempt(attempt, { outcome: 'pause', reason: tooManySetAsideMessage });
  const isKept = events.length > 1 || target.repeatsBatches === true;
  const isPart = parts !== undefined && batch.end <= parts.lastId;
  if (isKept && batch.end !== end && !(await beginBatch(database, held, batch.end))) return 'stop';
  const run = await sendBatches(
    {
      send: (one) => deliver(attempt, target, one.events),
      next: (behind) => nextBatch(eventsAfter(window, behind), channel, target, { parts, newest: row.newest }),
      maxMs: isKept || isPart ? 0 : maxRunMs,
      signal: attempt.signal,
    },
    batch,
  );
  const { accepted, note, refusal } = run;
  if (accepted !== undefined && !(await advanceCursor(database, held, accepted.cursor, { delivered: true, note })))
    return 'stop';
  if (refusal === undefined)
    return {
      unsent: accepted === undefined ? undefined : unsentEventsOf(attempt, window, accepted),
      // An accepted part did not contain the refused event, so the next part may be twice as large.
      ...(isPart ? { parts: { ...parts, maxEvents: 2 * parts.maxEvents } } : {}),
    };
  // Batches that were accepted before the failure ended the series of failures.
  const last = accepted === undefined ? attempt : { ...attempt, row: { ...row, failures: 0, reported: false } };
  return handleRefusal(last, refusal, parts);
}

/** Time for which single events are sent before the new cursor is recorded, in milliseconds. */
const maxRunMs = 250;

async function handleRefusal(
  attempt: Attempt,
  { batch, verdict }: Refusal,
  parts: BatchParts | undefined,
): Promise<Step> {
  const { held, row } = attempt;
  const [first] = batch.events;
  if (verdict.outcome !== 'refused') return recordFailedAttempt(attempt, verdict);
  if (first === undefined || batch.events.length > 1)
    return (await endBatch(databaseOf(attempt), held)) ? { parts: splitBatch(batch, parts) } : 'stop';
  const step = stepAfterWrite(await setEventAside(databaseOf(attempt), held, first.id, verdict.reason));
  if (step !== 'stop' && row.set_aside === 0)
    await reportFailingDelivery(attempt, `${verdict.reason} to the event ${eventName(first)}, which was set aside`);
  return step;
}

function splitBatch({ events, end }: NextBatch, parts: BatchParts | undefined): BatchParts {
  return { lastId: Math.max(end, parts?.lastId ?? end), maxEvents: Math.max(1, Math.floor(events.length / 2)) };
}

/** Returns the events that were read and are sent next, unless reading again may show the target more of them. */
function unsentEventsOf(
  { row }: Attempt,
  window: readonly DeliveryEvent[],
  { events, cursor }: NextBatch,
): UnsentEvents | undefined {
  const left = eventsAfter(window, cursor);
  return left.length > 0 && left.length >= events.length ? { generation: row.generation, events: left } : undefined;
}

function eventsAfter(events: readonly DeliveryEvent[], cursor: number): readonly DeliveryEvent[] {
  return events.filter(({ id }) => id > cursor);
}

const tooManySetAsideMessage = `${maxSetAside} events are set aside; send them again or discard them first`;

function stepAfterWrite(written: boolean): Step {
  return written ? continueStep : 'stop';
}

function databaseOf({ options }: Attempt): Engine['database'] {
  return options.engine.database;
}

/** Maximum number of request ids in the span of a delivery. */
const maxRequestIds = 20;

async function deliver(
  { options, channel, held }: Attempt,
  target: DeliveryTarget,
  batch: readonly DeliveryEvent[],
): Promise<Verdict> {
  const begun = performance.now();
  const requests = batch.flatMap(({ requestId }) => requestId ?? []);
  const about = {
    ...{ 'heddle.account': held.account, 'heddle.channel': channel.id, 'heddle.channel.type': channel.type },
    ...{ 'heddle.events': batch.length, 'heddle.request_id': [...new Set(requests)].slice(0, maxRequestIds) },
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

async function recordFailedAttempt(
  attempt: Attempt,
  verdict: Extract<Verdict, { readonly outcome: 'retry' | 'pause' }>,
): Promise<Step> {
  const { options, held, row } = attempt;
  const paused = verdict.outcome === 'pause';
  const failures = row.failures + 1;
  const { delays = defaultDelays } = options;
  const random = options.random();
  const waitMs = verdict.outcome === 'pause' ? delays.pause(random) : delays.retry(failures, random, verdict.afterMs);
  const revision = row.updated_revision ?? 0;
  const left = verdict.outcome === 'retry' ? verdict.left : undefined;
  const noted = await recordFailure(databaseOf(attempt), held, {
    reason: verdict.reason,
    paused,
    waitMs,
    revision,
    unacceptedEvents: left,
  });
  if (noted && !row.reported && (paused || failures >= failuresUntilReport))
    await reportFailingDelivery(attempt, verdict.reason);
  return 'stop';
}

/** Writes the audit event about a failing delivery. */
async function reportFailingDelivery({ options, held, row, channel }: Attempt, reason: string): Promise<void> {
  const { engine } = options;
  const event = {
    code: deliveryFailedCode,
    target: channel.id,
    meta: { kind: row.kind, type: channel.type, reason },
  } as const;
  await reportFailure(engine.database, held, { actor: systemActor, event, at: engine.now() });
}
