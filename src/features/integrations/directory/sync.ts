import { LeaseLost } from '../../../commit/batch.ts';
import type { Engine } from '../../../commit/engine.ts';
import {
  beginFullSync,
  type DirectorySyncRow,
  type HeldSync,
  readSync,
  recordSyncAttempt,
  recordSyncFailure,
  recordSyncResult,
  reportSyncFailure,
  type SyncResult,
} from '../../../db/directory-sync/progress.ts';
import type { Lease } from '../../../db/leases/leases.ts';
import { addSyncLogs, type SyncLog } from '../../../db/logs/sync-logs.ts';
import type { DirectoryHosts } from '../../../lib/directory-hosts.ts';
import { HeddleError, Internal, Unavailable } from '../../../model/errors.ts';
import type { Stored } from '../../../model/state/stored.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { defaultDelays } from '../deliveries/backoff.ts';
import type { RunningJob } from '../job-runner.ts';
import { actorOf } from '../provisioning/provision.ts';
import { recordSync, syncLogsOf } from '../provisioning/report.ts';
import { type AppliedDirectory, applyDirectory, describeApplied } from './apply.ts';
import { createDirectoryClient, type DirectoryClient } from './client.ts';
import { cloudOf } from './clouds.ts';
import { DirectoryFailure } from './failure.ts';
import { type ReadResult, readDirectory, SyncLost } from './read.ts';
import { checkSecret } from './secret-life.ts';
import { credentialsOf, type DirectorySettings, settingsOf } from './settings.ts';
import type { Credentials } from './token.ts';

/** Options that all syncs share. */
export interface SyncOptions {
  readonly engine: Engine;
  readonly outbound: Pick<Outbound, 'send'>;
  /** Directories that the operator configures. */
  readonly hosts: DirectoryHosts;
  /** Returns a number between 0 and 1. */
  random(): number;
  /** Time limit of an answer of the directory, in milliseconds. Absent: a minute. */
  readonly timeoutMs?: number;
  /** Time limit of one run, in milliseconds. Absent: ten minutes. The next run continues where this one stopped. */
  readonly deadlineMs?: number;
}

/** A sync that a user requested. */
export interface SyncRequest {
  /** Name of the user. */
  readonly by: string;
  /** Whether nothing is changed. */
  readonly dryRun: boolean;
}

/** Result of a sync. */
export interface SyncOutcome {
  readonly outcome: 'synced' | 'waiting' | 'failed' | 'stopped';
  /** The result as a sentence. */
  readonly result: string;
  /** Absent when the sync did not end, or had nothing to compare. */
  readonly applied?: AppliedDirectory;
}

/** Pages without end must not keep other directories waiting. */
const defaultDeadlineMs = 600_000;
/** Number of failures in a row after which an event reports them. */
const failuresUntilReport = 5;

/** One sync of one integration, under its lease. */
interface Sync {
  readonly options: SyncOptions;
  readonly held: HeldSync & { readonly lease: Lease };
  readonly signal: AbortSignal;
  readonly object: Stored<'DirectoryIntegration'>;
  readonly settings: DirectorySettings;
  readonly row: DirectorySyncRow | undefined;
  readonly request: SyncRequest | undefined;
}

const stoppedOutcome: SyncOutcome = {
  outcome: 'stopped',
  result: 'the sync was stopped and continues automatically; the logs will show its result',
};

/**
 * Reads a directory and applies its data to the account. After any interruption, the next sync continues where this one
 * stopped.
 */
export async function syncDirectory(
  options: SyncOptions,
  { account, lease, signal }: RunningJob,
  integration: string,
  request?: SyncRequest,
): Promise<SyncOutcome> {
  const { engine } = options;
  const state = await engine.snapshots.fresh(account);
  const object = state.find('DirectoryIntegration', integration);
  if (object === undefined) return { outcome: 'stopped', result: 'the integration is gone' };
  const settings = settingsOf(object);
  const held = { account, integration, lease };
  const row = await readSync(engine.database, account, integration);
  if (row === undefined && !(await beginFullSync(engine.database, held, settings.basis))) return stoppedOutcome;
  const sync = { options, held, signal, object, settings, row, request };
  // Recorded before reading: if the directory's answer crashes this server, the next server does not begin with this
  // directory at once.
  if (!(await recordAttempt(sync, defaultDelays.retry((row?.failures ?? 0) + 1, options.random()))))
    return stoppedOutcome;
  const begun = performance.now();
  const outcome = await runSync(sync);
  const seconds = (performance.now() - begun) / 1000;
  engine.observer.report({ what: 'directory_sync', outcome: outcome.outcome, seconds });
  return outcome;
}

async function runSync(sync: Sync): Promise<SyncOutcome> {
  const { options, held, signal, object, settings } = sync;
  const { engine } = options;
  let pages = 0;
  try {
    const credentials = credentialsOf(engine, held.account, object);
    const client = openClient(sync, credentials);
    const { basis, prefixes } = settings;
    const proceed = () => {
      if (signal.aborted) throw new SyncLost();
      pages += 1;
    };
    const read = await readDirectory({ database: engine.database, held, client, basis, prefixes, beforePage: proceed });
    const { secret } = credentials;
    const check = { held, client, row: sync.row, actor: actorOf(object), basis: settings.secretBasis, secret };
    const note = await checkSecret(engine, check);
    if (note !== undefined) await writeLogs(sync, [entry(sync, 'warning', note)]);
    return await applyRead(sync, read);
  } catch (error) {
    if (error instanceof SyncLost || error instanceof LeaseLost) {
      await recordAttempt(sync, 0).catch(() => undefined);
      return stoppedOutcome;
    }
    // The directory is not at fault when the database is unavailable.
    const isOurs = error instanceof DirectoryFailure || error instanceof HeddleError;
    if (!isOurs || error instanceof Unavailable) {
      await postpone(sync).catch(() => undefined);
      throw error;
    }
    return await recordFailedSync(sync, error, pages > 1);
  }
}

/**
 * Records when the directory is read again unless this sync records another time. A dry run records nothing. Returns
 * `false` when the lease is lost.
 */
async function recordAttempt({ options, held, object, request }: Sync, waitMs: number): Promise<boolean> {
  if (request?.dryRun === true) return true;
  return recordSyncAttempt(options.engine.database, held, { waitMs, revision: object.updatedRevision });
}

/** Delays the next sync after an error of this server, so that the error does not occur again at once. */
function postpone({ options, held, row, object }: Sync): Promise<boolean> {
  const failures = (row?.failures ?? 0) + 1;
  const waitMs = defaultDelays.retry(failures, options.random());
  const reason = 'this server failed; see its log';
  return recordSyncFailure(options.engine.database, held, {
    reason,
    failures,
    waitMs,
    revision: object.updatedRevision,
  });
}

function openClient({ options, settings, signal }: Sync, credentials: Credentials): DirectoryClient {
  const { deadlineMs = defaultDeadlineMs } = options;
  const deadline = AbortSignal.timeout(deadlineMs);
  const late = () => new DirectoryFailure('away', `not everything could be read within ${deadlineMs / 1000} s`);
  return createDirectoryClient({
    ...{ cloud: cloudOf(settings.host, options.hosts), credentials, now: Date.now },
    timeoutMs: options.timeoutMs,
    async send(request) {
      if (deadline.aborted) throw late();
      return raceWithAbort(options.outbound.send('directory', request), signal);
    },
  });
}

/** Waits for an answer. Throws `SyncLost` when the signal aborts, so that a server that stops does not wait. */
async function raceWithAbort<Value>(answer: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new SyncLost());
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Applies what was read, unless neither the directory nor the account changed since the last time and no user requested
 * the sync.
 */
async function applyRead(sync: Sync, read: ReadResult): Promise<SyncOutcome> {
  const { options, held, row, request } = sync;
  const { engine } = options;
  const { revision } = await engine.snapshots.fresh(held.account);
  if (!read.changed && !read.full && row?.applied_revision === revision && request === undefined) {
    await recordEnd(sync, { appliedRevision: revision });
    await recordSync(engine, held.account, held.integration, recoveryLogEntries(sync));
    return { outcome: 'synced', result: 'nothing changed' };
  }
  const dryRun = request?.dryRun === true;
  const applied = await applyDirectory(engine, held, { dryRun });
  const result = describeApplied(applied, dryRun);
  if (dryRun) {
    await writeLogs(sync, [entry(sync, 'info', `${request.by} asked what a sync would do: ${result}`)]);
    return { outcome: 'synced', result, applied };
  }
  await recordResult(sync, read, { applied, result });
  return { outcome: applied.provisioned.waiting === undefined ? 'synced' : 'waiting', result, applied };
}

/** Records what was applied, or why nothing was. A result that was logged before is not logged again. */
async function recordResult(
  sync: Sync,
  read: ReadResult,
  { applied: { provisioned }, result }: { readonly applied: AppliedDirectory; readonly result: string },
): Promise<void> {
  const { options, held, row, request } = sync;
  const waiting = provisioned.waiting && result;
  await recordEnd(sync, waiting === undefined ? { appliedRevision: provisioned.after.revision } : { waiting });
  const isWorthLogging =
    request !== undefined ||
    (waiting === undefined
      ? read.changed || read.full || provisioned.revision !== undefined
      : waiting !== row?.waiting);
  const results = isWorthLogging ? syncLogsOf(provisioned, options.engine.now()) : [];
  const entries = [...requestLogEntries(sync), ...recoveryLogEntries(sync), ...results];
  if (waiting === undefined) await recordSync(options.engine, held.account, held.integration, entries);
  else await writeLogs(sync, entries);
}

function recordEnd({ options, held, object, settings }: Sync, end: Partial<SyncResult>): Promise<boolean> {
  // The random part spreads integrations that were created together.
  const waitMs = settings.intervalMs * (1 + options.random() / 20);
  return recordSyncResult(options.engine.database, held, { ...end, waitMs, revision: object.updatedRevision });
}

/** Records why a sync failed, and when it is tried again. */
async function recordFailedSync(
  sync: Sync,
  error: DirectoryFailure | HeddleError,
  hasProgress: boolean,
): Promise<SyncOutcome> {
  const { options, held, object, row } = sync;
  const { database, now } = options.engine;
  const reason = error.message;
  const failures = hasProgress ? 1 : (row?.failures ?? 0) + 1;
  const isFinal = isPermanent(error);
  const fault = { reason, failures, waitMs: delayOf(sync, error, failures), revision: object.updatedRevision };
  if (!(await recordSyncFailure(database, held, fault))) return stoppedOutcome;
  if (row?.reported !== true && (isFinal || failures >= failuresUntilReport)) {
    const meta = { platform: 'directory', reason };
    const event = { code: 'integration.sync_failed', target: object.id, meta } as const;
    await reportSyncFailure(database, held, { actor: actorOf(object), event, at: now() });
  }
  const result = `the sync failed: ${reason}${isFinal ? '' : '; it continues automatically'}`;
  const isWorthLogging =
    sync.request !== undefined || row === undefined || row.failures === 0 || row.last_error !== reason;
  if (isWorthLogging) await writeLogs(sync, [...requestLogEntries(sync), entry(sync, 'error', result)]);
  return { outcome: 'failed', result };
}

function delayOf({ options, settings: { intervalMs } }: Sync, error: Error, failures: number): number {
  if (isPermanent(error)) return intervalMs;
  const askedMs = error instanceof DirectoryFailure ? error.afterMs : undefined;
  const usual = defaultDelays.retry(failures, options.random());
  return Math.max(Math.min(usual, intervalMs), defaultDelays.retry(1, 0, askedMs));
}

/** Whether the failure stays until a person changes something. */
function isPermanent(error: Error): boolean {
  return error instanceof DirectoryFailure ? error.outcome === 'refused' : error instanceof Internal;
}

function entry({ options }: Sync, level: SyncLog['level'], message: string): SyncLog {
  return { level, timestamp: options.engine.now(), message };
}

function requestLogEntries(sync: Sync): readonly SyncLog[] {
  return sync.request === undefined ? [] : [entry(sync, 'info', `${sync.request.by} asked for a sync`)];
}

/** Returns the log entry about a directory that answers again after failures. */
function recoveryLogEntries(sync: Sync): readonly SyncLog[] {
  const { row } = sync;
  return row !== undefined && row.failures > 0 ? [entry(sync, 'info', 'the directory answers again')] : [];
}

async function writeLogs({ options, held }: Sync, entries: readonly SyncLog[]): Promise<void> {
  if (entries.length > 0) await addSyncLogs(options.engine.database, held.account, held.integration, entries);
}
