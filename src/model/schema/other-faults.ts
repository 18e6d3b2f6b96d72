import type { Json, JsonObject } from '../../lib/json.ts';
import type { Fault, Kind } from '../declare/kind.ts';
import type { Fields } from './field.ts';
import { canonicalSpec, normalizeStated } from './normalize.ts';

/** Faults of the shape after which values may have any type. */
const untyped = new Set(['type_wrong']);
/** Faults of the shape after which the rules of a kind cannot look at the spec. */
const unruly = new Set([...untyped, 'field_required', 'value_not_allowed', 'value_invalid']);

/** Whether the values of a spec with these faults can be looked at one by one. */
export function isTyped(faults: readonly Fault[]): boolean {
  return !faults.some(({ code }) => untyped.has(code));
}

/**
 * Other faults in the formats of a spec that has faults already, so that one refusal reports all. A spec with thousands
 * of values is not checked further: it is not corrected by hand, and other requests would wait.
 */
export function otherFormatFaults(fields: Fields, spec: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  if (!isTyped(faults) || (faults.length > 0 && holdsMore(spec, mostValues))) return [];
  return withoutPlacesOf(normalizeStated(fields, spec).faults, faults);
}

const mostValues = 5000;

/** Whether a value holds more than so many values; stops as soon as it does. */
function holdsMore(value: Json, most: number): boolean {
  const waiting: Json[] = [value];
  let found = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const inside: readonly Json[] = Array.isArray(next) ? next : Object.values(next);
    found += inside.length;
    if (found > most) return true;
    waiting.push(...inside);
  }
  return false;
}

/** Which rules of its kind a full spec that has faults already breaks besides, as far as they can be judged. */
export function otherRuleFaults(kind: Kind, spec: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  if (faults.some(({ code }) => unruly.has(code))) return [];
  // The spec has the shape that the rules expect, but for bounds.
  return withoutPlacesOf(kind.check?.(canonicalSpec(kind, spec).spec) ?? [], faults);
}

/** One fault for each place is enough. */
function withoutPlacesOf(faults: readonly Fault[], reported: readonly Fault[]): readonly Fault[] {
  const places = new Set(reported.map(({ path }) => path));
  return faults.filter(({ path }) => path === '' || !places.has(path));
}
