import { asObject, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { fieldsOn, isEchoed } from '../../model/lower/shape.ts';
import { inListOrder, listOrderOf } from '../../model/schema/entries.ts';
import { type AnyField, type Fields, isEmpty } from '../../model/schema/field.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { memberName } from '../../model/schema/secret-fields.ts';
import { inWrittenSpelling, spellingsOf } from '../../model/schema/spelling.ts';
import { completeSpec } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';

/**
 * Returns the body completed with everything that a replacement does not change: fields that are kept when absent, and
 * fields that only creation or the server writes.
 */
export function keepStored(kind: Kind, object: StoredObject, body: JsonObject): JsonObject {
  // Kept lists stay in the order in which they were written, and kept texts in their spelling.
  const ordered = inListOrder(kind.spec, completeSpec(object), listOrderOf(object));
  const before = { ...object, spec: inWrittenSpelling(kind.spec, ordered, spellingsOf(object)) };
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
      result[name] = mergeMaps(field, asObject(stored), asObject(given ?? {}));
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

type MapField = Extract<AnyField, { readonly type: 'map' }>;

/** Merges the given members into the stored members, in whichever spelling they have. `null` removes a member. */
function mergeMaps(field: MapField, stored: JsonObject, given: JsonObject): JsonObject {
  const named = new Set(Object.keys(given).map((name) => memberName(field, name)));
  const kept = Object.entries(stored).filter(([name]) => !named.has(memberName(field, name)));
  return Object.fromEntries([...kept, ...Object.entries(given).filter(([, value]) => value !== null)]);
}
