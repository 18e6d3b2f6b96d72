import { testKind } from '../../access/ruleset/object-readers.ts';
import type { Call, Engine } from '../../commit/engine.ts';
import { listManualRevisions, type ManualRevision } from '../../db/sources/manual-revisions.ts';
import { listSources, type SourceRecord } from '../../db/sources/sources.ts';
import { isSourceSuspended } from '../../model/sources/settings.ts';
import {
  type Condition,
  initialStatus,
  readStatus,
  type SourceStatus,
  shownStatus,
} from '../../model/sources/status.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { createKindNameReadCheck } from '../../objects/object-list.ts';
import { readClaims } from '../../objects/pending-claims.ts';
import { readableStatus } from '../../objects/readable-problems.ts';
import type { Source } from '../../operations/config/sources.ts';
import type { AccountStatus } from '../../operations/config/status.ts';
import type { PendingClaim } from '../../plan/ownership/claims-of-others.ts';
import { driftOf } from '../../plan/ownership/drift.ts';
import { readTests } from '../config/access/test-results.ts';
import { inventoryOf } from './sources.ts';

/** Returns the sources of the account, with their status and the number of objects that each declares. */
export async function sourceStatuses(engine: Engine, call: Call): Promise<readonly Source[]> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const stored = await listSources(engine.database, call.account);
  const known = new Set(stored.map(({ id }) => id));
  const claimed = new Map((await readClaims(engine.database, call.account)).list.map((one) => [one.source, one.units]));
  const manualRevisions = new Map(
    (await listManualRevisions(engine.database, call.account)).map((run) => [run.source, run]),
  );
  const isReadable = createKindNameReadCheck(state, call);
  // A source that only ever pushed through the API has no row of its own.
  const pushing = [...state.sources()]
    .filter((source) => !known.has(source))
    .map((id) => ({ id, type: 'push', spec: {}, suspended: false, generation: 1, status: {}, handled_at: null }));
  return [...stored, ...pushing]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((source) =>
      viewSource(state, source, {
        claimed: claimed.get(source.id)?.filter(({ kind }) => isReadable(kind)),
        manualRevision: manualRevisions.get(source.id),
        now: engine.now(),
        readable: (status) => readableStatus(state, call, status),
      }),
    );
}

function viewSource(
  state: Snapshot,
  { id, type, spec, suspended: isStopped, generation, status, handled_at: handled }: SourceRecord,
  {
    claimed = [],
    manualRevision,
    now,
    readable,
  }: {
    readonly claimed?: PendingClaim['units'] | undefined;
    readonly manualRevision: ManualRevision | undefined;
    readonly now: string;
    readonly readable: (status: SourceStatus) => SourceStatus;
  },
): Source {
  const suspended = isSourceSuspended({ suspended: isStopped, spec });
  const found = Object.keys(status).length > 0 ? readable(readStatus(status)) : statusOfRejectedPush(claimed);
  // What a source declares can change without it: by a rollback, or when other sources take over.
  const inventory = found?.inventory === undefined ? {} : { inventory: inventoryOf(state, id) };
  const conditions =
    found === undefined || manualRevision === undefined
      ? {}
      : { conditions: withDriftedCondition(found, manualRevision) };
  const known =
    found === undefined ? {} : shownStatus({ ...found, ...inventory, ...conditions }, { generation, suspended });
  const shown = handled === null ? known : { ...known, lastHandledReconcileAt: handled.toISOString() };
  const objects = state.declaredBy(id).length;
  return {
    id,
    type,
    ...spec,
    suspended,
    generation,
    status: shown,
    objects,
    ...summarizeOverrides(state, id, now),
  };
}

/**
 * Returns how many units of a source are overridden, and the latest time at which an override ends. Empty when none is
 * overridden.
 */
function summarizeOverrides(state: Snapshot, source: string, now: string): Pick<Source, 'overrides'> {
  const untils = driftOf(state, now, source).flatMap(({ because }) =>
    because.why === 'override' ? [because.override.until] : [],
  );
  const last = untils.sort().at(-1);
  return last === undefined ? {} : { overrides: { units: untils.length, until: last } };
}

/**
 * Returns the conditions with `Drifted` set, because another revision was applied by hand after the commit that is
 * shown.
 */
function withDriftedCondition(
  { conditions, observedGeneration }: SourceStatus,
  { revision, by, commit }: ManualRevision,
): readonly Condition[] {
  const shown = commit === null ? 'its content' : `commit ${commit.slice(0, 12)}`;
  const message = `revision ${revision} was applied by hand by ${by} after ${shown}; the server applies its own documents again at its next run`;
  const since = conditions.find(({ type }) => type === 'Drifted');
  const condition: Condition = {
    ...{ type: 'Drifted', status: 'True', reason: 'AppliedByHand', message },
    ...{ lastTransitionTime: since?.lastTransitionTime ?? '', observedGeneration },
  };
  return [...conditions.filter(({ type }) => type !== 'Drifted'), condition];
}

/**
 * Returns the status of a source that only pushes. All that is known of it are claims that it could not enforce.
 * Returns `undefined` when there are none.
 */
function statusOfRejectedPush(units: PendingClaim['units']): SourceStatus | undefined {
  const [first, ...others] = units;
  if (first === undefined) return undefined;
  const { kind, key, path, file, line } = first;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const message = `its rejected push contradicts other sources and is not applied until they agree: ${path} of ${kind} ${key} (${file}:${line})${more}`;
  return { ...initialStatus, state: 'conflicted', message };
}

/** Returns a summary of the account. */
export async function accountStatus(engine: Engine, call: Call, version: string): Promise<AccountStatus> {
  const state = await engine.snapshots.atLeast(call.account, call.revision);
  const counts = engine.registry.kinds.map((kind) => [kind.name, state.countOf(kind.name)] as const);
  return {
    account: state.account,
    revision: state.revision,
    version,
    database: engine.database.engine,
    objects: Object.fromEntries(counts),
    ...(await testCounts(engine, call, state)),
    sources: await sourceStatuses(engine, call),
  };
}

/** Returns the results of the account's access tests. Empty when it has none. */
async function testCounts(engine: Engine, call: Call, state: Snapshot): Promise<Pick<AccountStatus, 'accessTests'>> {
  if (state.countOf(testKind) === 0) return {};
  const { passed, failed, conditional } = await readTests(engine, call);
  return { accessTests: { passed, failed, conditional } };
}
