import type { Json, JsonObject } from '../lib/json.ts';
import { isEmpty } from '../model/field.ts';
import type { StoredObject } from '../model/object.ts';
import { diffUnits, type UnitChange } from '../model/units.ts';
import { labeler, viewUnits } from '../plan/view.ts';
import type { Image } from '../store/history.ts';
import { listRevisions, readRevision } from '../store/revisions.ts';
import type { Call, Engine } from './engine.ts';

/** The account's revisions, newest first. */
export async function listHistory(
  engine: Engine,
  call: Call,
  options: { readonly before?: number; readonly limit: number },
): Promise<readonly JsonObject[]> {
  const rows = await listRevisions(engine.database, call.account, options);
  return rows.map((row) => headOf(row));
}

/** One revision with before and after of every unit it changed, or `undefined`. */
export async function showRevision(engine: Engine, call: Call, revision: number): Promise<JsonObject | undefined> {
  const found = await readRevision(engine.database, call.account, revision);
  if (found === undefined) return undefined;
  const state = await engine.snapshots.at(call.account, call.revision);
  const label = labeler(state, state);
  const changes = found.changes.map((row) => {
    const units = unitsOf(engine, row);
    return {
      action: row.action,
      kind: row.kind,
      ...(row.key === null ? {} : { key: row.key }),
      name: row.name,
      id: row.object_id,
      units: viewUnits(units, label) as unknown as Json,
    };
  });
  return { ...headOf(found), changes };
}

/** Of a created or deleted object all units that say something, else those that changed. */
function unitsOf(
  engine: Engine,
  row: { readonly action: string; readonly kind: string; readonly units: Json; readonly image: Json | null },
): readonly UnitChange[] {
  // Both columns are written by the store from values of these types.
  const object: StoredObject | undefined = ((row.image ?? {}) as unknown as Image).object;
  const fields = engine.registry.find(row.kind)?.spec;
  if (object === undefined || fields === undefined) return row.units as unknown as readonly UnitChange[];
  const units = row.action === 'delete' ? diffUnits(fields, object.spec, {}) : diffUnits(fields, {}, object.spec);
  return units.filter((unit) => !isEmpty(unit.before) || !isEmpty(unit.after));
}

type Head = Awaited<ReturnType<typeof listRevisions>>[number];

function headOf(row: Head): JsonObject {
  return {
    revision: row.revision,
    created_at: row.created_at.toISOString(),
    actor: row.actor,
    ...(row.source_id === null ? {} : { source: row.source_id }),
    ...(row.commit_ref === null ? {} : { commit: row.commit_ref }),
    ...(row.plan_id === null ? {} : { plan: row.plan_id }),
    ...(row.plan_digest === null ? {} : { digest: row.plan_digest }),
    counts: row.summary,
  };
}
