import type { Json, JsonObject } from '../../lib/json.ts';
import { entriesOf, type Fields } from '../../model/schema/field.ts';
import type { Declaration } from '../../model/state/object.ts';
import { unitsOf } from '../../model/state/units.ts';

/** The origin of membership elements that documents put there. */
export const sourceOrigin = 'source';

/** The origin of membership elements that requests put there. */
export const apiOrigin = 'api';

/** The full spec of a new object that a source states: its membership carries the origin. */
export function withSourceOrigins(fields: Fields, spec: JsonObject, origin: string): JsonObject {
  return Object.fromEntries(
    Object.entries(spec).map(([name, value]) => {
      if (fields[name]?.type !== 'members' || !Array.isArray(value)) return [name, value];
      return [name, Object.fromEntries(value.map((id) => [String(id), [origin]]))];
    }),
  );
}

/** Whether a path names an element of a membership. */
export function isMember(fields: Fields, path: string): boolean {
  return fields[fieldOf(path)]?.type === 'members' && path.endsWith(']');
}

/** The name of the field that a path begins with. */
export function fieldOf(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? '';
}

/** The fields whose membership a declaration keeps to what sources state: those that it states itself. */
export function exclusiveFields(
  fields: Fields,
  { exclusive, stated }: Pick<Declaration, 'exclusive' | 'stated'>,
): readonly string[] {
  if (exclusive !== true) return [];
  return entriesOf(fields).flatMap(([name, field]) => (field.type === 'members' && name in stated ? [name] : []));
}

/**
 * The spec after sources released an object whose values stay: an element that no document states any more, and that
 * has no other origin, has the API as its origin from then on.
 */
export function withoutSourceOrigins(fields: Fields, spec: JsonObject, declared: readonly Declaration[]): JsonObject {
  const names = entriesOf(fields).flatMap(([name, field]) => (field.type === 'members' ? [name] : []));
  const orphans = names.filter((name) => hasOrigin(spec[name]));
  if (orphans.length === 0) return spec;
  const stated = new Set(declared.flatMap((declaration) => [...unitsOf(fields, declaration.stated).keys()]));
  const result: Record<string, Json> = { ...spec };
  for (const name of orphans) {
    const elements = Object.entries(spec[name] as Elements);
    result[name] = Object.fromEntries(
      elements.map(([id, origins]) => [id, stated.has(`${name}[${id}]`) ? origins : withoutSource(origins)]),
    );
  }
  return result;
}

type Elements = Readonly<Record<string, readonly string[]>>;

function hasOrigin(value: Json | undefined): boolean {
  // Stored membership is element to origins.
  return value !== undefined && Object.values(value as Elements).some((origins) => origins.includes(sourceOrigin));
}

function withoutSource(origins: readonly string[]): readonly string[] {
  const others = origins.filter((origin) => origin !== sourceOrigin);
  return others.length === 0 ? [apiOrigin] : others;
}
