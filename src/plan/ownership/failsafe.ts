import { equalJson, type Json } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { type AnyField, type Fields, isGranular } from '../../model/schema/field.ts';

/** Whether a value is the restrictive value of its unit: any caller may set it, and no document may undo it. */
export function isRestrictive(fields: Fields, path: string, value: Json | undefined): boolean {
  const failsafe = fieldAt(fields, path)?.failsafe;
  return failsafe !== undefined && equalJson(failsafe, value);
}

/** Whether a change of a unit would undo a restriction. Only a permitted API call may do that. */
export function loosensRestriction(
  kind: Kind,
  path: string,
  before: Json | undefined,
  after: Json | undefined,
): boolean {
  return isRestrictive(kind.spec, path, before) && !isRestrictive(kind.spec, path, after);
}

/** Returns the field that a path names as a whole; `undefined` for an element of a set or an entry of a list. */
function fieldAt(fields: Fields, path: string): AnyField | undefined {
  const whole = fields[path];
  if (whole !== undefined) return whole;
  const [name = '', ...rest] = path.split('.');
  const field = fields[name];
  return rest.length > 0 && field !== undefined && isGranular(field)
    ? fieldAt(field.fields, rest.join('.'))
    : undefined;
}
