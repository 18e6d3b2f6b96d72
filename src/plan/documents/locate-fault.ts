import { asObject, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
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

function positionOf(field: AnyField, stored: readonly Json[], stated: readonly Json[], at: number): number {
  const found =
    field.type === 'keyed'
      ? stated.findIndex((entry) => memberOf(entry, field.key) === memberOf(stored[at], field.key))
      : stated.findIndex((item) => equalJson(item, stored[at]));
  return found < 0 ? at : found;
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? asObject(value)[name] : undefined;
}
