import { asObject, canonicalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Fault } from '../../model/declare/kind.ts';
import type { AnyField, Fields } from '../../model/schema/field.ts';

/**
 * Returns the fault with its JSON pointer translated to the positions of the input. Rules check canonical specs, whose
 * lists are sorted, but users see their input.
 */
export function locateFault(fields: Fields, canonical: JsonObject, input: JsonObject, fault: Fault): Fault {
  const segments = fault.path.split('/').slice(1);
  return { ...fault, path: segments.length === 0 ? '' : `/${translate(fields, canonical, input, segments).join('/')}` };
}

function translate(
  fields: Fields,
  canonical: Json | undefined,
  input: Json | undefined,
  segments: readonly string[],
): readonly string[] {
  const [name, position, ...rest] = segments;
  const field = name === undefined ? undefined : fields[name];
  if (name === undefined || field === undefined || position === undefined) return segments;
  const stored = memberOf(canonical, name);
  const stated = memberOf(input, name);
  if (field.type === 'object') return [name, ...translate(field.fields, stored, stated, segments.slice(1))];
  if (!Array.isArray(stored) || !Array.isArray(stated) || !/^\d+$/.test(position)) return segments;
  const at = positionOf(field, stored, stated, Number(position));
  if (field.type !== 'keyed') return [name, String(at), ...rest];
  return [name, String(at), ...translate(field.fields, stored[Number(position)], stated[at], rest)];
}

/** Returns the position of a stored item in the stated list, or its own position when the list does not contain it. */
function positionOf(field: AnyField, stored: readonly Json[], stated: readonly Json[], at: number): number {
  const positions = statedPositions.get(stated) ?? indexPositions(field, stated);
  statedPositions.set(stated, positions);
  return positions.get(identityOf(field, stored[at])) ?? at;
}

/**
 * Positions in stated lists. A list with thousands of items may have as many faults, so each list is read only once.
 */
const statedPositions = new WeakMap<readonly Json[], ReadonlyMap<string, number>>();

/** Returns the first position of each item, by its identity. */
function indexPositions(field: AnyField, items: readonly Json[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    const identity = identityOf(field, item);
    if (!positions.has(identity)) positions.set(identity, at);
  }
  return positions;
}

/** Returns a text that is equal for items that mean the same: the key of a keyed entry, the whole value otherwise. */
function identityOf(field: AnyField, item: Json | undefined): string {
  return canonicalJson(field.type === 'keyed' ? memberOf(item, field.key) : item);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? asObject(value)[name] : undefined;
}
