import type { Call, Engine } from '../../commit/engine.ts';
import { retryAfterWrite } from '../../commit/in-doubt.ts';
import { listSources, type SourceRecord } from '../../db/sources/sources.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import { Conflict, InvalidInput, NotFound } from '../../model/errors.ts';
import type { Transport } from '../../model/remote-url.ts';
import { type ApiSourceRules, apiFaults } from '../../model/sources/faults.ts';
import type { GitConfig } from '../../model/sources/schema.ts';
import { isSourceSuspended, isSuspendedInCluster } from '../../model/sources/settings.ts';
import { isServerManaged, recordedSpec } from '../../model/sources/spec.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { errorForProblems } from '../../objects/objects.ts';
import { storeClaims } from '../../objects/pending-claims.ts';
import type { Source, SourceRemoval } from '../../operations/config/sources.ts';
import { planDetach } from '../../plan/ownership/detach.ts';
import { runAfterCommit } from '../config/plans/after-commit.ts';
import { applyNow } from '../config/plans/apply-plan.ts';
import { findRevisionEffect } from '../config/plans/recover.ts';
import { resumeAdviceInCluster } from '../config/plans/suspended.ts';
import { revokeSourceLease } from './leases.ts';
import { listScheduledSources, requestSourceRun } from './scheduled-sources.ts';
import { findSource, recordSource, removeRecord, requireSource, suspendSource } from './sources.ts';
import { sourceStatuses } from './status.ts';

/** Limits of this server for sources, and facts about those that it may run. */
export interface SourceRules {
  /** Maximum number of Git sources of an account. */
  readonly maxGitSources: number;
  transports(account: string): readonly Transport[];
  /**
   * Returns the file that the operator does not let a source of an account use, and the reason, or `undefined` when
   * there is none.
   */
  refusesFile(
    account: string,
    name: string,
    config: GitConfig,
  ): { readonly file: string; readonly reason: string } | undefined;
  /** Returns why sources of an account may not name a host, as far as its name alone shows, otherwise `undefined`. */
  refusesHost(account: string, host: string): string | undefined;
  /** Account of hints that name none. */
  readonly account?: string;
  /** Returns the secret by which hints for the source are verified, or `undefined` when it accepts no hints. */
  webhookSecret(account: string, id: string): Promise<string | undefined>;
}

/** Rules of a server that runs no sources. */
export const defaultRules: SourceRules = {
  maxGitSources: 20,
  transports: () => ['https', 'ssh'],
  refusesFile: () => undefined,
  refusesHost: () => undefined,
  webhookSecret: async () => undefined,
};

/** Returns a source with its status. Throws `NotFound`. */
export async function showSource(engine: Engine, call: Call, id: string): Promise<Source> {
  const state = await engine.snapshots.fresh(call.account);
  const found = (await sourceStatuses(engine, { ...call, revision: state.revision })).find(
    (source) => source.id === id,
  );
  if (found === undefined) throw new NotFound(`source ${id} not found`);
  return found;
}

/**
 * Creates a source from `{name, type, …settings}`. Throws `InvalidInput`, and `Conflict` (`taken`) when it exists
 * already.
 */
export async function createSource(engine: Engine, call: Call, body: JsonObject, rules: SourceRules): Promise<Source> {
  refuseFaults(apiFaults(body, apiRules(engine, call, rules)));
  const { name, type } = nameAndType(body);
  const present = await findSource(engine, call.account, name);
  if (present !== undefined && !holdsOnlyClaims(present))
    throw new Conflict('taken', `a source called ${name} already exists`);
  if (type === 'git') await refuseTooMany(engine, call, rules);
  await recordSource(engine, call, { id: name, type, spec: recordedSpec(type, body, 'api') });
  return retryAfterWrite(() => showSource(engine, call, name));
}

/**
 * Throws `Conflict` when the account has the maximum number of Git sources. Each of them costs the server a copy of its
 * repository, and a git process every minute.
 */
async function refuseTooMany(engine: Engine, { account }: Call, { maxGitSources: most }: SourceRules): Promise<void> {
  const stored = await listSources(engine.database, account);
  const own = stored.filter(({ type, spec }) => type === 'git' && !isServerManaged(type, spec));
  if (own.length < most) return;
  const message = `the account has ${own.length} Git sources, and the maximum on this server is ${most}; delete one, or ask the operator to raise HEDDLE_GIT_SOURCES`;
  throw new Conflict('refused', message);
}

/**
 * Replaces the settings of a source. Settings that are left out return to their defaults. Throws `NotFound`, and
 * otherwise as `createSource` does.
 */
export async function replaceSource(
  engine: Engine,
  call: Call,
  { id, body, rules }: { readonly id: string; readonly body: JsonObject; readonly rules: SourceRules },
): Promise<Source> {
  const present = await ensureRecord(engine, call, id);
  refuseServerManaged(present, 'change it');
  const whole: JsonObject = { type: present.type, ...body, name: body['name'] ?? id };
  refuseFaults([
    ...apiFaults(whole, apiRules(engine, call, rules)),
    ...fixedFieldFaults(whole, 'name', id),
    ...fixedFieldFaults(whole, 'type', present.type),
  ]);
  await recordSource(engine, call, { id, type: present.type, spec: recordedSpec(present.type, whole, 'api') });
  return retryAfterWrite(() => showSource(engine, call, id));
}

/**
 * Suspends or resumes the loop of a source. Throws `NotFound`, and `Conflict` when a resource in a cluster keeps it
 * suspended.
 */
export async function setSourceSuspended(engine: Engine, call: Call, id: string, suspended: boolean): Promise<Source> {
  const { spec } = await ensureRecord(engine, call, id);
  if (!suspended && isSuspendedInCluster(spec))
    throw new Conflict('refused', `source ${id} stays suspended: ${resumeAdviceInCluster}`);
  await suspendSource(engine, call, { id, suspended });
  return retryAfterWrite(() => showSource(engine, call, id));
}

/**
 * Requests a reconcile now. Returns the time of the request. Throws `NotFound`, and `Conflict` when no server would
 * carry it out.
 */
export async function requestSourceReconcile(
  engine: Engine,
  call: Call,
  id: string,
): Promise<{ readonly requestedAt: string }> {
  const { type, suspended, spec } = await ensureRecord(engine, call, id);
  if (type === 'push')
    throw new Conflict('refused', `source ${id} gets its documents by push; no server reconciles it`);
  if (suspended) throw new Conflict('refused', `source ${id} is suspended; resume it first`);
  if (isSuspendedInCluster(spec)) throw new Conflict('refused', `source ${id} is suspended: ${resumeAdviceInCluster}`);
  return { requestedAt: await requestSourceRun(engine, call, id) };
}

/**
 * Releases everything that a source declares and owns. The objects stay unchanged. Suspends its loop: when it is
 * resumed, the source takes the same objects back. Throws `NotFound`.
 */
export async function detachSource(engine: Engine, call: Call, id: string): Promise<SourceRemoval> {
  await ensureRecord(engine, call, id);
  await suspendSource(engine, withoutRequestId(call), { id, suspended: true });
  // What a server is about to apply was planned before the source was suspended.
  await revokeSourceLease(engine, call.account, id);
  return release(engine, call, id);
}

/**
 * Returns what the revision of an earlier attempt released, for a caller that did not get the answer. Completes the
 * steps that follow the commit. Returns `undefined` when the history contains too little.
 */
export async function findDetached(
  engine: Engine,
  call: Call,
  id: string,
  revision: number,
): Promise<SourceRemoval | undefined> {
  const done = await findRevisionEffect(engine, call, revision);
  if (done === undefined) return undefined;
  const released = [...done.changes, ...done.claims].map(({ after }) => after);
  const reconciled = await followRelease(engine, call, id, revision);
  return { revision, ...countReleased(released), deleted: 0, reconciled };
}

/** Options for deleting a source. */
export interface SourceDeletion {
  /** Whether its objects are kept or deleted. Absent: as its settings state. */
  readonly objects?: 'orphan' | 'prune' | undefined;
  /** Digest of the plan that deletes the objects, to approve it after a guard stopped it. */
  readonly approve?: string | undefined;
}

/**
 * Deletes a source. Throws `NotFound`, `Conflict` while the configuration of a server names it, and `NeedsApproval`
 * when its guards stop the deletion of its objects.
 */
export async function deleteSource(
  engine: Engine,
  call: Call,
  id: string,
  { objects, approve }: SourceDeletion = {},
): Promise<SourceRemoval> {
  const present = await ensureRecord(engine, call, id);
  if (isServerManaged(present.type, present.spec) && (await isRunByServer(engine, call.account, id)))
    refuseServerManaged(present, 'remove it');
  const disposal = objects ?? (present.spec['onSourceDelete'] === 'prune' ? 'prune' : 'orphan');
  await suspendSource(engine, withoutRequestId(call), { id, suspended: true });
  await revokeSourceLease(engine, call.account, id);
  const pruned = disposal === 'prune' ? prune(engine, call, id, approve) : Promise.resolve(0);
  const deleted = await pruned.catch(async (error: unknown) => {
    // The source was not deleted, so its previous state is restored.
    await suspendSource(engine, withoutRequestId(call), { id, suspended: present.suspended });
    throw error;
  });
  const end = await release(engine, call, id);
  await removeRecord(engine, withoutRequestId(call), id);
  return { ...end, deleted };
}

/**
 * Returns the caller of one step of a longer operation, without its request id: a completed step does not mean that the
 * request was carried out.
 */
function withoutRequestId({ account, actor }: Call): Pick<Call, 'account' | 'actor'> {
  return { account, actor };
}

/** Deletes the objects that the source owns. Returns their number. */
async function prune(engine: Engine, call: Call, source: string, approve: string | undefined): Promise<number> {
  const { plan } = await applyNow(engine, call, {
    ...{ source, documents: [], problems: [], locate: (problems) => problems, prune: true, allowEmpty: true },
    ...(approve === undefined ? {} : { approve }),
  });
  return plan.counts.delete;
}

async function release(engine: Engine, call: Call, source: string): Promise<SourceRemoval> {
  const committed = await engine.committer.mutate({
    ...call,
    propose: (snapshot) => planDetach({ snapshot, source, newId: engine.newId }),
  });
  if (!committed.ok) throw errorForProblems(committed.problems);
  const { revision = null, plan } = committed;
  const released = [...plan.changes, ...plan.claims].map(({ after }) => after);
  const reconciled = await followRelease(engine, call, source, committed.after.revision);
  return { revision, ...countReleased(released), deleted: 0, reconciled };
}

function countReleased(released: readonly (StoredObject | undefined)[]): Pick<SourceRemoval, 'released' | 'shared'> {
  const shared = released.filter((after) => after?.owner !== undefined || (after?.declared.length ?? 0) > 0);
  return { released: released.length, shared: shared.length };
}

/** Unblocks other sources after a source was released. Returns the ids of the sources that are reconciled now. */
async function followRelease(engine: Engine, call: Call, source: string, revision: number): Promise<readonly string[]> {
  let reconciled: readonly string[] = [];
  await runAfterCommit(engine, `updating the claims of source ${source}`, async () => {
    // Claims that the source could not enforce block nothing any more.
    await storeClaims(engine, call.account, source, {
      revision,
      lacks: { keys: [], units: [], blocked: [], pending: [] },
    });
    reconciled = await reconcileBlocked(engine, call, source);
  });
  return reconciled;
}

/**
 * Requests a reconcile of every source that is in conflict with another one, because the cause may be gone. Returns
 * their ids.
 */
async function reconcileBlocked(engine: Engine, call: Call, gone: string): Promise<readonly string[]> {
  const stored = await listSources(engine.database, call.account);
  const blocked = stored.filter(
    ({ id, type, suspended, spec, status }) =>
      id !== gone && type !== 'push' && !isSourceSuspended({ suspended, spec }) && status['state'] === 'conflicted',
  );
  for (const { id } of blocked) await requestSourceRun(engine, call, id);
  return blocked.map(({ id }) => id);
}

/** Returns the record of a source. Creates one for a source that only ever pushed. Throws `NotFound`. */
async function ensureRecord(engine: Engine, call: Call, id: string): Promise<SourceRecord> {
  const found = await findSource(engine, call.account, id);
  if (found !== undefined) return found;
  const state = await engine.snapshots.fresh(call.account);
  if (state.declaredBy(id).length === 0) throw new NotFound(`source ${id} not found`);
  await recordSource(engine, withoutRequestId(call), { id, type: 'push', spec: recordedSpec('push', {}, 'api') });
  return requireSource(engine, call.account, id);
}

/** Whether the row only records the claims that a pushing source could not enforce. */
function holdsOnlyClaims({ type, spec }: SourceRecord): boolean {
  return type === 'push' && spec['managedBy'] === undefined;
}

function refuseServerManaged({ id, type, spec }: SourceRecord, what: string): void {
  if (!isServerManaged(type, spec)) return;
  throw new Conflict(
    'refused',
    `source ${id} is named by the configuration of a server (--source or --config); ${what} there, and restart the servers`,
  );
}

async function isRunByServer(engine: Engine, account: string, id: string): Promise<boolean> {
  const called = await listScheduledSources(engine);
  return called.some((source) => source.account === account && source.id === id && source.runner !== null);
}

function apiRules(engine: Engine, { account }: Call, rules: SourceRules): ApiSourceRules {
  return {
    kinds: documentKinds(engine),
    transports: rules.transports(account),
    refusesHost: (host) => rules.refusesHost(account, host),
    refusesFile: (name, config) => rules.refusesFile(account, name, config),
  };
}

function documentKinds({ registry }: Engine): readonly string[] {
  return registry.kinds.filter((kind) => kind.document.allowed).map((kind) => kind.name);
}

function nameAndType(body: JsonObject): { readonly name: string; readonly type: string } {
  return { name: String(body['name']), type: String(body['type']) };
}

function fixedFieldFaults(body: JsonObject, member: string, value: string): readonly Fault[] {
  if (body[member] === value) return [];
  const message = `\`${member}\` is \`${value}\` and cannot change; make another source`;
  return [{ code: 'field_fixed', path: `/${member}`, message }];
}

function refuseFaults(faults: readonly Fault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  throw new InvalidInput(first.message, { problems: faults });
}
