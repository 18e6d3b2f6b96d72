import type { JsonObject } from '../lib/json.ts';
import { listSources, putStatus, registerSource, type SourceRecord } from '../store/sources.ts';
import type { Call, Engine } from './engine.ts';

/** The account's sources, how they fare, and how many objects each states. */
export async function sourceStatuses(engine: Engine, call: Call): Promise<readonly JsonObject[]> {
  const state = await engine.snapshots.at(call.account, call.revision);
  const stored = await listSources(engine.database, call.account);
  const known = new Set(stored.map(({ id }) => id));
  // A source that only ever pushed through the API has no row of its own.
  const pushing = [...state.sources()]
    .filter((source) => !known.has(source))
    .map((id) => ({ id, type: 'push', spec: {}, status: {} }));
  return [...stored, ...pushing]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, type, spec, status }) => ({ id, type, ...spec, status, objects: state.declaredBy(id).length }));
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
    sources: await sourceStatuses(engine, call),
  };
}

/** How a source fared when it was recorded last, also by an earlier run of the server; `undefined` when it is new. */
export async function recordedStatus(engine: Engine, account: string, source: string): Promise<JsonObject | undefined> {
  const stored = await listSources(engine.database, account);
  return stored.find(({ id }) => id === source)?.status;
}

/** Records what a source is; a change is a revision, what is there already is not written again. */
export async function recordSource(
  engine: Engine,
  { account, actor }: Pick<Call, 'account' | 'actor'>,
  source: Pick<SourceRecord, 'id' | 'type' | 'spec'>,
): Promise<void> {
  const registration = { actor, at: engine.now(), requestId: engine.newId() };
  await registerSource(engine.database, account, source, registration);
}

/** Records how a source fares. */
export async function recordStatus(engine: Engine, account: string, source: string, status: JsonObject): Promise<void> {
  await putStatus(engine.database, account, source, status);
}
