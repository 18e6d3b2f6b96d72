import { testKind } from '../access/vocabulary.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { readStatus, shownStatus } from '../model/source-status.ts';
import { listSources, type SourceRecord } from '../store/sources.ts';
import type { Call, Engine } from './engine.ts';
import { readTests } from './told-tests.ts';

/** The account's sources, how they fare, and how many objects each states. */
export async function sourceStatuses(engine: Engine, call: Call): Promise<readonly JsonObject[]> {
  const state = await engine.snapshots.at(call.account, call.revision);
  const stored = await listSources(engine.database, call.account);
  const known = new Set(stored.map(({ id }) => id));
  // A source that only ever pushed through the API has no row of its own.
  const pushing = [...state.sources()]
    .filter((source) => !known.has(source))
    .map((id) => ({ id, type: 'push', spec: {}, suspended: false, generation: 1, status: {}, handled_at: null }));
  return [...stored, ...pushing]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((source) => ({ ...viewSource(source), objects: state.declaredBy(source.id).length }));
}

function viewSource({ id, type, spec, suspended, generation, status, handled_at: handled }: SourceRecord): JsonObject {
  const known = Object.keys(status).length === 0 ? {} : shownStatus(readStatus(status), { generation, suspended });
  const shown = handled === null ? known : { ...known, lastHandledReconcileAt: handled.toISOString() };
  // A status is plain data.
  return { id, type, ...spec, suspended, generation, status: shown as JsonObject };
}

/** The account at a glance. */
export async function accountStatus(engine: Engine, call: Call, version: string): Promise<JsonObject> {
  const state = await engine.snapshots.at(call.account, call.revision);
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

/** How the access tests of the account fare, when it has any. */
async function testCounts(engine: Engine, call: Call, state: Snapshot): Promise<JsonObject> {
  if (state.countOf(testKind) === 0) return {};
  const { passed, failed, conditional } = await readTests(engine, call);
  return { accessTests: { passed, failed, conditional } };
}
