import type { Call, Engine } from '../../commit/engine.ts';
import { storeOnce } from '../../commit/in-doubt.ts';
import { runInSlices } from '../../commit/slices.ts';
import { findRequest } from '../../db/commit/idempotency.ts';
import type { AccountAccess } from '../../db/database.ts';
import type { Lease } from '../../db/leases/leases.ts';
import { recordEvents } from '../../db/logs/events.ts';
import { putClaimedKeys } from '../../db/sources/claims.ts';
import { listManualRevisions } from '../../db/sources/manual-revisions.ts';
import {
  listSources,
  putStatus,
  registerSource,
  removeSource,
  type SourceChangeContext,
  type SourceRecord,
  setSuspended,
} from '../../db/sources/sources.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ActivityCode } from '../../model/declare/activities.ts';
import type { Document } from '../../model/document.ts';
import { NotFound } from '../../model/errors.ts';
import type { SourceStatus } from '../../model/sources/status.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { readClaims } from '../../objects/pending-claims.ts';
import { expandDocuments } from '../../plan/documents/desired.ts';
import { driftOf } from '../../plan/ownership/drift.ts';

/** Account and actor of a change. `requestId` is present when the change is all that the request does. */
type Caller = Pick<Call, 'account' | 'actor' | 'requestId'>;

/** Records the definition of a source. A change is a revision. An unchanged definition is not written again. */
export async function recordSource(
  engine: Engine,
  caller: Caller,
  source: Pick<SourceRecord, 'id' | 'type' | 'spec'>,
): Promise<void> {
  await writeRevision(engine, caller, (by) => registerSource(engine.database, caller.account, source, by));
}

/** Suspends or resumes the loop of a source. A running reconcile completes. */
export async function suspendSource(
  engine: Engine,
  caller: Caller,
  source: { readonly id: string; readonly suspended: boolean },
): Promise<void> {
  await writeRevision(engine, caller, (by) => setSuspended(engine.database, caller.account, source, by));
}

/** Deletes the record of a source that declares nothing any more. */
export async function removeRecord(engine: Engine, caller: Caller, id: string): Promise<void> {
  await writeRevision(engine, caller, (by) => removeSource(engine.database, caller.account, id, by));
}

/** Returns a source as it is stored. Throws `NotFound`. */
export async function requireSource(engine: Engine, account: string, id: string): Promise<SourceRecord> {
  const found = await findSource(engine, account, id);
  if (found === undefined) throw new NotFound(`source ${id} not found`);
  return found;
}

/** Returns a source as it is stored, or `undefined`. */
export async function findSource(engine: Engine, account: string, id: string): Promise<SourceRecord | undefined> {
  const stored = await listSources(engine.database, account);
  return stored.find((source) => source.id === id);
}

/** Options for recording a status: the lease that must be held, and the events for watchers of the account. */
interface StatusOptions {
  readonly lease?: Lease;
  readonly codes?: readonly ActivityCode[];
}

/** Records the status of a source and its events. Records neither when the lease is lost. */
export async function recordStatus(
  engine: Engine,
  account: string,
  id: string,
  status: SourceStatus,
  { lease, codes = [] }: StatusOptions = {},
): Promise<void> {
  // A status is plain data.
  const put = (access: AccountAccess) => putStatus(access, account, id, status as unknown as JsonObject, lease);
  if (codes.length === 0) {
    await put(engine.database);
    return;
  }
  const actor = { type: 'source', id, name: id } as const;
  const events = codes.map((code) => ({ code, target: id, meta: { source: id, message: status.message } }));
  await engine.database.withAccountLock(account, async (held) => {
    if (await put(held)) await recordEvents(held, account, { actor, at: engine.now(), events });
  });
}

/** Returns the number of units that the source declares and that have another value in the account. */
export function countDrift(engine: Engine, state: Snapshot, source: string): number {
  return driftOf(state, engine.now(), source).length;
}

/** Returns the revision that was applied by hand to a source since a server applied it last, or `undefined`. */
export async function manualRevisionOf(engine: Engine, account: string, source: string): Promise<number | undefined> {
  const runs = await listManualRevisions(engine.database, account);
  return runs.find((run) => run.source === source)?.revision;
}

/** Returns the number of objects of each kind about which the source declares something. */
export function inventoryOf(state: Snapshot, source: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { kind } of state.declaredBy(source)) counts[kind] = (counts[kind] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the pending claims of the other sources of the account, as text. The text is equal while the claims are. */
export async function claimsOfOthers(engine: Engine, account: string, source: string): Promise<string> {
  const { list } = await readClaims(engine.database, account);
  return JSON.stringify(list.filter((one) => one.source !== source));
}

/**
 * Records which keys the documents of a source claim that the source does not declare yet, so that an object that is
 * about to move to it is not deleted.
 */
export async function recordClaimedKeys(
  engine: Engine,
  account: string,
  source: string,
  documents: readonly Document[],
): Promise<void> {
  const { registry, validator, database, snapshots } = engine;
  const { desired } = await runInSlices(expandDocuments(registry, validator, documents));
  const state = await snapshots.current(account);
  const isStated = (kind: string, key: string) =>
    state.findByKey(kind, key)?.declared.some((declaration) => declaration.source === source) === true;
  // A document that renames an object claims it by the name that it still has.
  const claimed = desired.flatMap(({ kind, key, aliases = [] }) =>
    [key, ...aliases].filter((name) => !isStated(kind.name, name)).map((name) => `${kind.name}/${name}`),
  );
  await putClaimedKeys(database, account, source, [...new Set(claimed)].sort());
}

/** Writes a revision about a source. Writes none when nothing would change, so it can be repeated. */
async function writeRevision(
  engine: Engine,
  caller: Caller,
  write: (registration: SourceChangeContext) => Promise<number | undefined>,
): Promise<void> {
  const { database, now, newId } = engine;
  const registration = { actor: caller.actor, at: now(), requestId: caller.requestId?.() ?? newId() };
  const find = () => findRequest(database, caller.account, [registration.requestId]);
  const revision = await storeOnce(registration, find, () => write(registration));
  publishChange(engine, caller, revision);
}

/** Publishes the revision that changed a source, and notifies the servers to look at their sources. */
function publishChange(engine: Engine, { account }: Caller, revision: number | undefined): void {
  if (revision === undefined) return;
  engine.notices.publish({ what: 'revision', account, revision });
  engine.notices.publish({ what: 'sources', account });
}

/** Returns the files that declare objects of a source, by the paths under which they were read. */
export async function filesStatedBy(engine: Engine, account: string, source: string): Promise<ReadonlySet<string>> {
  const state = await engine.snapshots.current(account);
  const declarations = state.declaredBy(source).flatMap(({ declared }) => declared);
  return new Set(declarations.filter((by) => by.source === source).map(({ file }) => file));
}
