import { asList, asObject, asTexts, equalJson, type JsonObject } from '../../lib/json.ts';
import { type Fields, isDivided } from '../../model/schema/field.ts';
import { type Content, originsOf } from '../../model/state/members.ts';
import type { Declaration, StoredObject } from '../../model/state/object.ts';
import { sourceOrigin } from './membership.ts';
import type { StateOptions } from './state-units.ts';

/** Whether nothing can change: what is stated was stated before and is so. The common case, without building maps. */
export function isUnchanged(
  fields: Fields,
  object: StoredObject,
  mine: Declaration | undefined,
  stated: JsonObject,
  { exclusive }: StateOptions,
): boolean {
  if (object.declared.length > (mine === undefined ? 0 : 1) || object.overrides !== undefined) return false;
  if (exclusive === true) return false;
  return equalJson(mine?.stated ?? {}, stated) && holds(fields, object, stated);
}

/** Whether everything stated already has its value. */
export function holds(fields: Fields, content: Content, stated: JsonObject): boolean {
  return Object.entries(stated).every(([name, value]) => {
    const field = fields[name];
    if (field?.type === 'members')
      return asTexts(value).every((id) => originsOf(content, name, id).includes(sourceOrigin));
    const current = content.spec[name];
    if (field !== undefined && isDivided(field))
      return holds(field.fields, { spec: asObject(current ?? {}) }, asObject(value));
    if (field?.type === 'refs' || (field?.type === 'list' && field.set))
      return asList(value).every((item) => asList(current).includes(item));
    return equalJson(current, value);
  });
}
