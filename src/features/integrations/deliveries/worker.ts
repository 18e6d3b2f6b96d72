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
  reportFailure,
  setAside,
} from '../../../db/deliveries/progress.ts';
import { type DeliveryRow, type DeliveryWork, readWork } from '../../../db/deliveries/work.ts';
import { type Lease, renewLease } from '../../../db/leases/leases.ts';
import type { Actor } from '../../../model/declare/actor.ts';
import { Internal } from '../../../model/errors.ts';
import { type Delays, usualDelays } from './backoff.ts';
import { failedCode, nextBatch } from './batch.ts';
import { openChannel, readChannel } from './channels.ts';
import { deliveryEvent } from './events.ts';
import type { Channel, DeliveryEvent, Target, Verdict } from './target.ts';

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
export interface Hold {
  readonly account: string;
  readonly channel: string;
  readonly lease: Lease;
  readonly leaseSeconds: number;
  readonly isStopping: () => boolean;
}

/** How many events are looked at together. */
const windowSize = 500;

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
  let singlyTo = 0;
  let renewedAt = performance.now();
  while (!hold.isStopping()) {
    if (performance.now() - renewedAt > (hold.leaseSeconds * 1000) / 3) {
      renewedAt = performance.now();
      if (!(await renewLease(options.engine.database, hold.lease, hold.leaseSeconds))) return;
    }
    const step = await takeStep(options, hold, singlyTo);
    if (step === 'done') return;
    singlyTo = Math.max(singlyTo, step.singlyTo);
  }
}

/** What follows a step: another one, with the events up to some one by one, or nothing for now. */
type Step = 'done' | { readonly singlyTo: number };

const goOn: Step = { singlyTo: 0 };

async function takeStep(options: WorkerOptions, hold: Hold, singlyTo: number): Promise<Step> {
  const { database } = options.engine;
  const work = await readWork(database, hold.account, hold.channel, windowSize);
  if (work === undefined) return 'done';
  const { row } = work;
  if (row.spec === null) {
    await dropDelivery(database, hold.account, hold.channel);
    return 'done';
  }
  // Other settings are tried at once.
  if (row.wait_ms > 0 && row.tried_revision === row.updated_revision) return 'done';
  const held = { ...hold, generation: row.generation };
  const { channel, target, fault } = openTarget(options, hold, row, row.spec);
  const attempt = { options, held, row, channel };
  if (fault !== undefined) return fail(attempt, { outcome: 'pause', reason: fault });
  if (work.again !== undefined) return sendAgain(attempt, target, deliveryEvent(work.again));
  return sendNext(attempt, target, work, singlyTo);
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
  { row, events }: DeliveryWork,
  singlyTo: number,
): Promise<Step> {
  const { held, channel } = attempt;
  const window = events.map(deliveryEvent);
  if (window.length === 0 && row.cursor >= row.newest) return 'done';
  const end = row.batch_end ?? undefined;
  const batch = nextBatch(window, channel, target, { end, singlyTo, newest: row.newest });
  const last = batch.events.at(-1)?.id;
  const database = databaseOf(attempt);
  if (last === undefined || target === undefined)
    return isWritten(await advance(database, held, batch.cursor, { delivered: false }));
  if (row.set_aside >= mostSetAside) return fail(attempt, { outcome: 'pause', reason: tooManySetAside });
  if (batch.events.length > 1 && last !== end && !(await beginBatch(database, held, last))) return 'done';
  const verdict = await deliver(attempt, target, batch.events);
  if (verdict.outcome === 'accepted')
    return isWritten(await advance(database, held, batch.cursor, { delivered: true, note: verdict.note }));
  if (verdict.outcome !== 'refused') return fail(attempt, verdict);
  if (batch.events.length > 1) return (await endBatch(database, held)) ? { singlyTo: last } : 'done';
  const step = isWritten(await setAside(database, held, last, verdict.reason));
  if (step !== 'done' && row.set_aside === 0)
    await announce(attempt, `${verdict.reason} to the event ${last}, which was set aside`);
  return step;
}

const tooManySetAside = `${mostSetAside} events are set aside; send them again or discard them first`;

function isWritten(written: boolean): Step {
  return written ? goOn : 'done';
}

function databaseOf({ options }: Attempt): Engine['database'] {
  return options.engine.database;
}

async function deliver(
  { options, channel }: Attempt,
  target: Target,
  batch: readonly DeliveryEvent[],
): Promise<Verdict> {
  const begun = performance.now();
  const verdict = await target.deliver(batch);
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
  const noted = await noteFailure(databaseOf(attempt), held, { reason: verdict.reason, paused, waitMs, revision });
  if (noted && !row.reported && (paused || failures >= failuresUntilReport)) await announce(attempt, verdict.reason);
  return 'done';
}

/** Writes the audit event about a delivery that fails. */
async function announce({ options, held, row, channel }: Attempt, reason: string): Promise<void> {
  const { engine } = options;
  const event = { code: failedCode, target: channel.id, meta: { kind: row.kind, type: channel.type, reason } } as const;
  await reportFailure(engine.database, held, { actor, event, at: engine.now() });
}
