import { asList, asObject, asTexts, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { type AnyField, type Fields, isGranular } from '../../model/schema/field.ts';
import { type Content, originsOf } from '../../model/state/members.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import { sourceOrigin } from './membership.ts';
import type { StateOptions } from './state-units.ts';

/**
 * Whether stating the values cannot change anything: the source stated the same before, and the values are in effect.
 * Finds the common case without building maps of units; may return false although nothing changes.
 */
export function isUnchanged(
  fields: Fields,
  object: StoredObject,
  mine: Declaration | undefined,
  stated: JsonObject,
  { exclusive }: StateOptions,
): boolean {
  if (object.declared.length > (mine === undefined ? 0 : 1) || object.overrides !== undefined) return false;
  if (exclusive === true) return false;
  return equalJson(mine?.stated ?? {}, stated) && hasStatedValues(fields, object, stated);
}

/** Whether every stated field already has its stated value. */
export function hasStatedValues(fields: Fields, content: Content, stated: JsonObject): boolean {
  for (const name of Object.keys(stated))
    if (!hasStatedValue(fields[name], name, content, stated[name] as Json)) return false;
  return true;
}

function hasStatedValue(field: AnyField | undefined, name: string, content: Content, value: Json): boolean {
  if (field?.type === 'members')
    return asTexts(value).every((id) => originsOf(content, name, id).includes(sourceOrigin));
  const current = content.spec[name];
  if (field !== undefined && isGranular(field))
    return hasStatedValues(field.fields, { spec: asObject(current ?? {}) }, asObject(value));
  if (field?.type === 'refs' || (field?.type === 'list' && field.set)) {
    const present = asList(current);
    return asList(value).every((item) => present.includes(item));
  }
  return equalJson(current, value);
}
