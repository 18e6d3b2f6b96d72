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

/** What workers on all deliveries share. */
export interface WorkerOptions {
  readonly engine: Engine;
  /** The target of a channel; `undefined` when events go nowhere. */
  readonly open: (channel: Channel) => Target | undefined;
  /** Between 0 and 1. */
  random(): number;
  /** Absent: from 1 s to 10 min, and an hour while a channel is paused. */
  readonly delays?: Delays;
}

/** One delivery, held by this server. */
interface Hold extends HeldLease {
  readonly channel: string;
  /** What there is to do something about; they take turns. */
  readonly feeds: readonly EventFeed[];
}

/** How much of what waits is read together, unless a target asks for more. */
const usualWindow: WindowSize = { events: 500, bytes: 4_000_000 };

/** What waits is looked at again when twice as much does, but not for less than so many events. */
const fewest = 1000;

/** After so many failures in a row an event says so. */
const failuresUntilReport = 5;

/** More than so many events are not set aside: then the receiver is what is wrong. */
const mostSetAside = 1000;

/** The actor of what deliveries find out by themselves. */
const actor: Actor = { type: 'system', id: 'sys', name: 'system' };

/**
 * Delivers what waits for one channel, in order, until nothing is left, an attempt fails, or the lease is lost. Whatever ends
 * it in the middle, the next worker goes on behind what was noted: an event may be sent twice, and none is left out.
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

/** How far the work on one feed of a delivery is. */
interface Progress {
  readonly feed: EventFeed;
  /** How the events of a batch that was refused are sent. */
  readonly parts?: Parts | undefined;
  /** How much is read at once. */
  readonly window: WindowSize;
  /** What was read already and comes next. */
  readonly rest?: Rest | undefined;
}

/** Events that were read and did not go yet; they count while nobody moves the cursor. */
interface Rest {
  readonly generation: number;
  readonly events: readonly DeliveryEvent[];
}

type StepResult = Partial<Omit<Progress, 'feed'>>;

/** What follows a step: another one, with what it changes; nothing for now; or nothing of any feed. */
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
  // Other settings are tried at once.
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

/** Whether a target wants to be shown more than was read; a batch that was begun is shown to its end, or it would be another. */
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
  /** Why its settings cannot be used. */
  readonly fault?: string;
}

/** Secrets are opened for channels alone to which something is sent. */
function openTarget({ engine, open }: WorkerOptions, hold: Hold, row: DeliveryRow, spec: object): Opened {
  const stored = { account: hold.account, id: hold.channel, kind: row.kind, spec: { ...spec } };
  const channel = readChannel(stored);
  if (!channel.enabled || channel.settings === undefined) return { channel };
  try {
    const opened = openChannel(engine, stored);
    return { channel: opened, target: open(opened) };
  } catch (error) {
    if (!(error instanceof Internal)) throw error;
    return { channel, fault: `${error.message}; write it again` };
  }
}

/** An attempt at a delivery. */
interface Attempt {
  readonly options: WorkerOptions;
  readonly held: HeldDelivery;
  readonly row: DeliveryRow;
  readonly channel: Channel;
  readonly signal: AbortSignal;
}

/** Sends an event again that was set aside, unless nothing is sent any more. */
async function sendAgain(attempt: Attempt, target: Target | undefined, event: DeliveryEvent): Promise<Step> {
  if (target === undefined) return isWritten(await cancelRetries(databaseOf(attempt), attempt.held));
  const verdict = await deliver(attempt, target, [event]);
  if (verdict.outcome === 'accepted') return isWritten(await endSetAside(databaseOf(attempt), attempt.held, event.id));
  if (verdict.outcome !== 'refused') return fail(attempt, verdict);
  return isWritten(await setAside(databaseOf(attempt), attempt.held, event.id, verdict.reason));
}

/** Sends the next events, or moves the cursor behind those that nobody wants. */
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
      // What is accepted leads away from the event that is not wanted.
      ...(isPart ? { parts: { ...parts, events: 2 * parts.events } } : {}),
    };
  // What was accepted before it ended a series of failures.
  const last = accepted === undefined ? attempt : { ...attempt, row: { ...row, failures: 0, reported: false } };
  return failBatch(last, refusal, parts);
}

/** How long events that go one by one are sent before it is noted how far that came, in milliseconds. */
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

/** What was read and comes next, unless more may be shown by reading again. */
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

/** How many requests the span of a delivery names. */
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

/** Writes the audit event about a delivery that fails. */
async function announce({ options, held, row, channel }: Attempt, reason: string): Promise<void> {
  const { engine } = options;
  const event = { code: failedCode, target: channel.id, meta: { kind: row.kind, type: channel.type, reason } } as const;
  await reportFailure(engine.database, held, { actor, event, at: engine.now() });
}
