import { asObject, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { fieldsOn, isEchoed } from '../../model/lower/shape.ts';
import { inListOrder, listOrderOf } from '../../model/schema/entries.ts';
import { type AnyField, type Fields, isEmpty } from '../../model/schema/field.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { completeSpec } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';

/**
 * Returns the body completed with everything that a replacement does not change: fields that are kept when absent, and
 * fields that only creation or the server writes.
 */
export function keepStored(kind: Kind, object: StoredObject, body: JsonObject): JsonObject {
  // Kept lists stay in the order in which they were written.
  const before = { ...object, spec: inListOrder(kind.spec, completeSpec(object), listOrderOf(object)) };
  const parent = kind.parent?.field;
  const writable = fieldsOn(kind, 'replace');
  const fixed = Object.entries(before.spec).filter(
    ([name]) => name === parent || writable[name] === undefined || isEchoed(writable[name], 'replace'),
  );
  return {
    ...keepFields(writable, before.spec, body, kind.merge === true),
    ...keptServerChoices(writable, before, body),
    ...Object.fromEntries(fixed),
  };
}

/**
 * Keeps a value that the server may choose when the body leaves the choice to the server again, or repeats the chosen
 * value.
 */
function keptServerChoices(fields: Fields, { spec, derived }: StoredObject, body: JsonObject): JsonObject {
  const kept = entriesOf(fields).flatMap(([name, field]): readonly (readonly [string, Json])[] => {
    const { serverChosen } = field;
    const stored = spec[name];
    if (serverChosen === undefined || stored === undefined) return [];
    const given = body[name] ?? serverChosen;
    const isAnswer = equalJson(stored, serverChosen) && equalJson(given, derived[name]);
    return isAnswer || equalJson(given, serverChosen) ? [[name, stored]] : [];
  });
  return Object.fromEntries(kept);
}

function keepFields(fields: Fields, before: JsonObject, body: JsonObject, merge: boolean): JsonObject {
  const result: Record<string, Json> = { ...body };
  for (const [name, field] of entriesOf(fields)) {
    const stored = before[name];
    if (stored === undefined || isReplaced(fields, field, body)) continue;
    const given = body[name];
    if (merge ? given === undefined : isKept(field, given)) result[name] = stored;
    else if (field.type === 'map' && field.merge === true)
      result[name] = mergeMaps(asObject(stored), asObject(given ?? {}));
    else if (field.type === 'object' && !isEmpty(given))
      result[name] = keepFields(field.fields, asObject(stored), asObject(given), merge);
  }
  return result;
}

function isKept({ keptOnReplace }: AnyField, given: Json | undefined): boolean {
  return keptOnReplace === 'absent' ? given === undefined : keptOnReplace === true && isEmpty(given);
}

/** Whether the body contains the member that is used instead of the field. */
function isReplaced(fields: Fields, { alternativeField }: AnyField, body: JsonObject): boolean {
  return alternativeField !== undefined && alternativeField in fields && !isEmpty(body[alternativeField]);
}

/** Merges the given members into the stored members. `null` removes a member. */
function mergeMaps(stored: JsonObject, given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...stored, ...given }).filter(([, value]) => value !== null));
}
