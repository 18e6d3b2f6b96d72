import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Fault, Kind } from '../../declare/kind.ts';
import type { Fields } from '../field.ts';
import { canonicalSpec, normalizeStated } from '../normalize.ts';
import { maxFaults } from './validator.ts';

/** Codes of shape faults after which values may have any type: the entries of an oversized list are not validated. */
const untypedCodes = new Set(['type_wrong', 'list_too_long', 'object_too_large']);
/** Codes of shape faults after which the rules of a kind cannot read the spec. */
const ruleBlockingCodes = new Set([...untypedCodes, 'field_required', 'value_not_allowed', 'value_invalid']);

/**
 * Whether the values of a spec with these faults still have their declared types, so that they can be checked one by
 * one. Validation stops after `most` faults, so then the remaining values may have any type.
 */
export function isTyped(faults: readonly Fault[], most = maxFaults): boolean {
  return faults.length < most && !faults.some(({ code }) => untypedCodes.has(code));
}

/**
 * Returns further format faults of a spec, so that one refusal reports all of them. A spec that already has faults and
 * contains more than 5000 values is not checked further: a user does not correct it by hand, and the check would delay
 * other requests. `most`: number of faults after which validation stopped.
 */
export function otherFormatFaults(
  fields: Fields,
  spec: JsonObject,
  faults: readonly Fault[],
  most = maxFaults,
): readonly Fault[] {
  if (!isTyped(faults, most) || (faults.length > 0 && hasMoreValuesThan(spec, maxValues))) return [];
  return withoutReportedPaths(normalizeStated(fields, spec).faults, faults);
}

const maxValues = 5000;

/** Whether a value contains more than `most` nested values. Stops counting at the limit. */
function hasMoreValuesThan(value: Json, most: number): boolean {
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

/**
 * Returns the kind's own rules that a full spec breaks in addition to the faults already found. Empty when those faults
 * prevent the rules from reading the spec, and for a large spec (see `otherFormatFaults`).
 */
export function otherRuleFaults(kind: Kind, spec: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  if (!isTyped(faults) || faults.some(({ code }) => ruleBlockingCodes.has(code))) return [];
  if (hasMoreValuesThan(spec, maxValues)) return [];
  // The spec has the shape that the rules expect; only values out of bounds remain.
  return withoutReportedPaths(kind.check?.(canonicalSpec(kind, spec).spec) ?? [], faults);
}

/** Reports at most one fault per path. Faults of the whole spec (empty path) are always kept. */
function withoutReportedPaths(faults: readonly Fault[], reported: readonly Fault[]): readonly Fault[] {
  const reportedPaths = new Set(reported.map(({ path }) => path));
  return faults.filter(({ path }) => path === '' || !reportedPaths.has(path));
}
