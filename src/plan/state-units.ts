import { equalJson, type Json, type JsonObject } from '../lib/json.ts';
import { type Fields, isDivided } from '../model/field.ts';
import type { StoredObject } from '../model/object.ts';
import { applyUnits, resetValue, type UnitChange, unitsOf } from '../model/units.ts';

/** The origin of membership elements that documents put there. */
export const sourceOrigin = 'source';

/** A unit that another source states with another value. */
export interface UnitConflict {
  readonly path: string;
  readonly source: string;
  readonly file: string;
  readonly line: number;
}

export interface Stated {
  readonly spec: JsonObject;
  /** Units that fell back to their default. */
  readonly resets: readonly string[];
  readonly conflicts: readonly UnitConflict[];
}

/**
 * The spec of an object after a source states `stated`: stated units have the stated value, units it stated before and
 * does not state now are released, everything else is left alone.
 */
export function stateUnits(fields: Fields, object: StoredObject, source: string, stated: JsonObject): Stated {
  const others = object.declared.filter((declaration) => declaration.source !== source);
  const before = object.declared.find((declaration) => declaration.source === source)?.stated ?? {};
  if (others.length === 0 && equalJson(before, stated) && holds(fields, object.spec, stated))
    return { spec: object.spec, resets: [], conflicts: [] };
  const now = unitsOf(fields, stated);
  const current = unitsOf(fields, object.spec);
  const elsewhere = others.map((declaration) => ({ declaration, units: unitsOf(fields, declaration.stated) }));
  const changes: UnitChange[] = [];
  const resets: string[] = [];
  for (const path of unitsOf(fields, before).keys()) {
    if (now.has(path) || elsewhere.some(({ units }) => units.has(path))) continue;
    const released = releaseUnit(fields, path, current.get(path));
    if (released === undefined) continue;
    changes.push(released);
    resets.push(path);
  }
  const conflicts: UnitConflict[] = [];
  for (const [path, value] of now) {
    const target = withOrigin(fields, path, value, current.get(path));
    const other = elsewhere.find(({ units }) => units.has(path) && !equalJson(units.get(path), value));
    if (other !== undefined)
      conflicts.push({
        path,
        source: other.declaration.source,
        file: other.declaration.file,
        line: other.declaration.line,
      });
    changes.push({ path, after: target });
  }
  return { spec: applyUnits(fields, object.spec, changes), resets, conflicts };
}

/** The full spec of a new object that a source states: its membership carries the origin. */
export function withSourceOrigins(fields: Fields, spec: JsonObject, origin: string): JsonObject {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => {
      if (fields[name]?.type !== 'members' || !Array.isArray(value)) return [name, value];
      return [name, Object.fromEntries(value.map((id) => [String(id), [origin]]))];
    }),
  );
}

function releaseUnit(fields: Fields, path: string, current: Json | undefined): UnitChange | undefined {
  if (isMember(fields, path)) {
    const origins = Array.isArray(current) ? current.filter((origin) => origin !== sourceOrigin) : [];
    return origins.length === 0 ? { path } : { path, after: origins };
  }
  const reset = resetValue(fields, path);
  if (reset.keep) return undefined;
  return reset.value === undefined ? { path } : { path, after: reset.value };
}

/** A membership element keeps the origins it has. */
function withOrigin(fields: Fields, path: string, value: Json, current: Json | undefined): Json {
  if (!isMember(fields, path)) return value;
  return [...new Set([...(Array.isArray(current) ? current.map(String) : []), sourceOrigin])].sort();
}

function isMember(fields: Fields, path: string): boolean {
  return fields[path.slice(0, Math.max(0, path.indexOf('[')))]?.type === 'members';
}

/** Whether everything stated already has its value; the common case of a plan that changes nothing, without building maps. */
function holds(fields: Fields, spec: JsonObject, stated: JsonObject): boolean {
  return Object.entries(stated).every(([name, value]) => {
    const field = fields[name];
    const current = spec[name];
    if (field !== undefined && isDivided(field))
      return holds(field.fields, (current ?? {}) as JsonObject, value as JsonObject);
    if (field?.type === 'members')
      return (value as readonly string[]).every((id) =>
        ((current as Record<string, readonly string[]>)[id] ?? []).includes(sourceOrigin),
      );
    if (field?.type === 'refs' || (field?.type === 'list' && field.set))
      return (value as readonly Json[]).every((item) => (current as readonly Json[]).includes(item));
    return equalJson(current, value);
  });
}
