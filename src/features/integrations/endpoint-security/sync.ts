import type { Engine } from '../../../commit/engine.ts';
import type { PresenceImage } from '../../../commit/presence.ts';
import {
  type HeldIntegration,
  recordSyncAttempt,
  recordSyncFailure,
  recordSyncResult,
  reportSyncFailure,
  type VerdictUpdate,
  writeVerdicts,
} from '../../../db/endpoint-security/progress.ts';
import { type IntegrationStatusRow, listIntegrationStatus } from '../../../db/endpoint-security/status.ts';
import { splitIntoParts } from '../../../lib/steps.ts';
import { Internal } from '../../../model/errors.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { Snapshot } from '../../../model/state/snapshot.ts';
import type { RunningJob } from '../job-runner.ts';
import { type CredentialWatch, checkCredential, reportRefusedCredential } from './credentials.ts';
import { CredentialsRefused, createAsk, type VendorHttpOptions } from './http.ts';
import { describeIntegration, openIntegration, openVendor, platformOf } from './integrations.ts';
import { createMatcher, type Machine } from './match.ts';
import { type Integration, type Vendor, VendorFailure } from './vendor.ts';
import {
  describeLoss,
  endedVerdicts,
  machinesOf,
  needsApproval,
  systemActor,
  verdictChanges,
  verdictOn,
} from './verdicts.ts';

/** Options that all syncs share. */
export interface SyncOptions extends Pick<VendorHttpOptions, 'outbound' | 'timeoutMs' | 'retryMs'> {
  readonly engine: Engine;
  /** Returns a number between 0 and 1. */
  random(): number;
  /** Interval of complete syncs of a product, in milliseconds. Absent: five minutes. */
  readonly everyMs?: number | undefined;
  /** Time limit for reading a product, in milliseconds. Absent: ten minutes. */
  readonly deadlineMs?: number | undefined;
}

const defaultIntervalMs = 300_000;
/** Pages without end must not keep the products of other accounts waiting. */
const defaultDeadlineMs = 600_000;
const firstRetryMs = 15_000;
/** Number of failures in a row after which an event reports them. */
const failuresUntilReport = 2;
/** Maximum number of verdicts that are written together. */
const maxVerdictsPerWrite = 500;
/** Maximum number of devices, which no product reaches. It ends the reading of a product whose pages never end. */
const maxDevices = 2_000_000;

/** One sync, with the integration in its state at the beginning. */
interface Sync {
  readonly options: SyncOptions;
  readonly held: HeldIntegration;
  readonly signal: AbortSignal;
  /** Aborted when reading has taken too long. */
  readonly deadline: AbortSignal;
  readonly state: Snapshot;
  readonly object: StoredObject;
  readonly row: IntegrationStatusRow;
}

/**
 * Queries the product of an integration about all of its devices, and writes the changed verdicts on the peers of the
 * integration's groups. After any interruption, the next sync starts from the beginning. Unless `isForced`, nothing is
 * done when another server was faster, so that the sync is not due any more.
 */
export async function syncAll(
  options: SyncOptions,
  hold: RunningJob,
  { id, isForced }: { readonly id: string; readonly isForced: boolean },
): Promise<void> {
  const sync = await beginSync(options, hold, id);
  if (sync === undefined) return;
  // Recorded before reading: if the product's answer crashes this server, the next server does not begin with this
  // product at once.
  if (!(await recordAttempt(sync, firstRetryMs, isForced))) return;
  const begun = performance.now();
  const done = await runSync(sync);
  if (done === undefined) return;
  const seconds = (performance.now() - begun) / 1000;
  options.engine.observer.report({ what: 'endpoint_sync', product: platformOf(sync.object.kind), seconds, ...done });
}

interface SyncOutcome {
  readonly outcome: 'synced' | 'failed' | 'held';
  readonly devices: number;
}

async function beginSync(
  options: SyncOptions,
  { account, lease, signal }: RunningJob,
  id: string,
): Promise<Sync | undefined> {
  const { database, snapshots } = options.engine;
  const state = await snapshots.fresh(account);
  const object = state.get(id);
  const [row] = await listIntegrationStatus(database, account, id);
  if (object === undefined || row === undefined) return undefined;
  const deadline = AbortSignal.timeout(options.deadlineMs ?? defaultDeadlineMs);
  return { options, held: { account, integration: id, lease }, signal, deadline, state, object, row };
}

/** Runs a sync. Returns `undefined` when it was stopped or the lease was lost. */
async function runSync(sync: Sync): Promise<SyncOutcome | undefined> {
  const { options, held, signal, state, object, row } = sync;
  try {
    const integration = openIntegration(options.engine, held.account, object);
    const machines = machinesOf(state, await options.engine.presence.read(held.account), object.id);
    const vendor = openProduct(sync, integration);
    const { match, found } = await readDevices(vendor, machines, readingSignal(sync));
    const known = row.devices ?? undefined;
    if (needsApproval(found, known)) {
      await recordFailedSync(sync, describeLoss(integration.product, found, known), { doubted: found });
      return { outcome: 'held', devices: found };
    }
    const image = await options.engine.presence.read(held.account);
    const now = Date.parse(image.now);
    const said = new Map(machines.map((machine) => [machine.peer, verdictOn(match(machine), integration, now)]));
    const changed = await writeChanges(sync, [
      ...verdictChanges(sync, image, said),
      ...endedVerdicts(sync, image, said),
    ]);
    if (changed === undefined || !(await recordSynced(sync, found))) return undefined;
    if (changed > 0 || !row.decides || row.untrusted !== null)
      options.engine.notices.publish({ what: 'verdicts', account: held.account });
    await checkCredential(watchOf(sync), vendor);
    return { outcome: 'synced', devices: found };
  } catch (error) {
    if (signal.aborted) {
      await recordAttempt(sync, 0, true);
      return undefined;
    }
    if (error instanceof VendorFailure || error instanceof Internal) {
      const reason = reasonOf(sync, error);
      await recordFailedSync(sync, reason, { afterMs: error instanceof VendorFailure ? error.afterMs : undefined });
      const isRepeated = row.failures + 1 >= failuresUntilReport;
      if (error instanceof CredentialsRefused && isRepeated) await reportRefusedCredential(watchOf(sync), reason);
      return { outcome: 'failed', devices: 0 };
    }
    // An error of this server. If this record cannot be written either, the record from the beginning of the sync
    // applies.
    await recordAttempt(sync, firstRetryMs, true).catch(() => undefined);
    throw error;
  }
}

function watchOf({ options: { engine }, held, object, row }: Sync): CredentialWatch {
  const { platform, credentialBasis: basis } = describeIntegration(object);
  return { engine, held, row, platform, basis };
}

function readingSignal({ signal, deadline }: Sync): AbortSignal {
  return AbortSignal.any([signal, deadline]);
}

function reasonOf({ options, deadline }: Sync, error: Error): string {
  if (!deadline.aborted) return error.message;
  return `not all devices could be read within ${(options.deadlineMs ?? defaultDeadlineMs) / 1000} s`;
}

/**
 * Records when the product is queried again unless this sync records another time. Returns `false` when the lease is
 * lost, or the sync is not due.
 */
function recordAttempt({ options, held, object }: Sync, waitMs: number, isForced: boolean): Promise<boolean> {
  return recordSyncAttempt(options.engine.database, held, { waitMs, revision: object.updatedRevision, isForced });
}

/** Queries a product one by one about peers that were not checked yet, without reading all devices. */
export async function syncPeers(
  options: SyncOptions,
  hold: RunningJob,
  { id, peers }: { readonly id: string; readonly peers: readonly string[] },
): Promise<void> {
  const sync = await beginSync(options, hold, id);
  // The first complete sync covers all peers.
  if (sync === undefined || !sync.row.decides) return;
  const { engine } = options;
  const image = await engine.presence.read(hold.account);
  const machines = machinesOf(sync.state, image, id, peers).filter(({ peer }) => !isChecked(image, peer, id));
  if (machines.length === 0) return;
  try {
    const integration = openIntegration(engine, hold.account, sync.object);
    const vendor = openProduct(sync, integration);
    const said = new Map<string, string>();
    for (const machine of machines) {
      const matcher = createMatcher([machine]);
      const devices = await vendor.find(machine);
      matcher.add([...new Map(devices.map((device) => [device.id, device])).values()]);
      said.set(machine.peer, verdictOn(matcher.match(machine), integration, Date.parse(image.now)));
    }
    if ((await writeChanges(sync, verdictChanges(sync, image, said))) === undefined) return;
    engine.notices.publish({ what: 'verdicts', account: hold.account });
  } catch (error) {
    // The peers wait for the next complete sync, which reports the error.
    if (!(error instanceof VendorFailure || error instanceof Internal)) throw error;
  }
}

/** Whether there is a verdict of an integration's product on a peer. */
export function isChecked({ peers }: Pick<PresenceImage, 'peers'>, peer: string, integration: string): boolean {
  return peers.get(peer)?.verdicts?.[integration] !== undefined;
}

function openProduct(sync: Sync, integration: Integration): Vendor {
  const ask = createAsk({ ...sync.options, now: Date.now, signal: readingSignal(sync) });
  return openVendor(sync.object.kind, integration, ask, Date.now);
}

async function readDevices(vendor: Vendor, machines: readonly Machine[], signal: AbortSignal) {
  const { add, match } = createMatcher(machines);
  let found = 0;
  for await (const page of vendor.devices()) {
    add(page);
    found += page.length;
    if (signal.aborted) throw new VendorFailure('the sync was stopped');
    if (found > maxDevices) throw new VendorFailure(`it lists more than ${maxDevices} devices`);
  }
  return { match, found };
}

/** Writes changed verdicts. Returns their number, or `undefined` when the lease is lost. */
async function writeChanges({ options, held }: Sync, changes: readonly VerdictUpdate[]): Promise<number | undefined> {
  const { database } = options.engine;
  for (const some of splitIntoParts(changes, maxVerdictsPerWrite))
    if (!(await writeVerdicts(database, held, some))) return undefined;
  return changes.length;
}

function recordSynced({ options, held, object }: Sync, devices: number): Promise<boolean> {
  const { engine, everyMs = defaultIntervalMs } = options;
  const waitMs = everyMs * (0.9 + options.random() / 5);
  return recordSyncResult(engine.database, held, { devices, waitMs, revision: object.updatedRevision });
}

interface FailureDetails {
  readonly doubted?: number;
  readonly afterMs?: number | undefined;
}

async function recordFailedSync(sync: Sync, reason: string, { doubted, afterMs = 0 }: FailureDetails): Promise<void> {
  const { options, held, object, row } = sync;
  const { engine, everyMs = defaultIntervalMs } = options;
  const backOff = doubted === undefined ? Math.min(everyMs, firstRetryMs * 2 ** Math.min(row.failures, 10)) : everyMs;
  const waitMs = Math.max(backOff * (0.9 + options.random() / 5), afterMs);
  const { trustedHours, product, platform } = describeIntegration(object);
  const untrusted = `${product} could not be queried for more than ${trustedHours} hours`;
  const failure = { reason, waitMs, revision: object.updatedRevision, doubted, trustedHours, untrusted };
  const noted = await recordSyncFailure(engine.database, held, failure);
  if (noted === undefined) return;
  // When verdicts cease to count, or count again, other peers may take part in the network.
  if (noted.untrusted !== row.untrusted) engine.notices.publish({ what: 'verdicts', account: held.account });
  if (row.reported || (doubted === undefined && row.failures + 1 < failuresUntilReport)) return;
  const code = doubted === undefined ? 'integrated-validator.sync.failed' : 'integrated-validator.sync.held';
  const event = { code, target: object.id, meta: { platform, reason } } as const;
  await reportSyncFailure(engine.database, held, { actor: systemActor, event, at: engine.now() });
}
