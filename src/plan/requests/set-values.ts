import { isObject, type Json, type JsonObject } from '../../lib/json.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Fault, Kind } from '../../model/declare/kind.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import { fieldsOn, isEchoed } from '../../model/lower/shape.ts';
import { keyedEntries } from '../../model/schema/entries.ts';
import type { AnyField, Fields } from '../../model/schema/field.ts';
import { entriesOf } from '../../model/schema/field-search.ts';
import { normalize } from '../../model/schema/normalize.ts';
import { mapReferences } from '../../model/schema/references.ts';
import { mask } from '../../model/schema/sealing.ts';
import { type MapField, memberName } from '../../model/schema/secret-fields.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';

/**
 * Returns the body of a replacement that changes nothing: the members that responses show, and a mask for each required
 * secret, which responses do not show.
 */
export function unchangedBody(state: Snapshot, object: StoredObject): JsonObject {
  const shown = lowerToResponse(state.registry, object, state);
  const fields = entriesOf(state.registry.get(object.kind).spec);
  const unseen = fields.filter(([, { type, required }]) => type === 'secret' && required === true);
  return { ...shown, ...Object.fromEntries(unseen.map(([name]) => [name, mask])) };
}

/** Returns the id of the object of a kind that a text names. */
export type Resolve = (kind: string, text: string, path: string) => string;

/** A request body with changed values, and the faults of their paths. */
export interface ChangedBody {
  readonly body: JsonObject;
  readonly faults: readonly Fault[];
}

/**
 * Returns the body of a replacement with these values set. They are given by path, as plans show paths: `metric`,
 * `settings.ttl`, `rules[web].enabled`, `peers[ana-laptop]` (whether the set contains the element). References in the
 * values are resolved; all other members of the body stay unchanged.
 */
export function setValues(kind: Kind, body: JsonObject, values: JsonObject, resolve: Resolve): ChangedBody {
  const writable = Object.entries(fieldsOn(kind, 'replace')).filter(
    ([name, field]) => !isEchoed(field, 'replace') && !(name in (kind.inputs ?? {})),
  );
  const fields: Fields = Object.fromEntries(writable);
  const faults: Fault[] = [];
  const put = (now: JsonObject, [path, value]: readonly [string, Json]): JsonObject => {
    try {
      return putValue({ fields, path, value, resolve }, now, stepsOf(path));
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      faults.push({ code: 'field_unknown', path: `/${path}`, message: error.message });
      return now;
    }
  };
  return { body: Object.entries(values).reduce(put, body), faults };
}

/** Thrown for a path that matches no settable field. `setValues` catches it and reports a fault. */
class PathError extends Error {}

/** One piece of a path: a member of an object, or an element in brackets. */
interface PathStep {
  readonly member?: string;
  readonly element?: string;
}

interface PutContext {
  readonly fields: Fields;
  readonly path: string;
  readonly value: Json;
  readonly resolve: Resolve;
}

function stepsOf(path: string): readonly PathStep[] {
  const found = [...path.matchAll(/(?:^|\.)([A-Za-z_][\w-]*)|\[(.+?)\](?=[.[]|$)/gy)];
  const read = found.reduce((length, [text]) => length + text.length, 0);
  if (read !== path.length || path === '')
    throw new PathError(
      `\`${path}\` is not the path of a field; write name, name.member, name[element] or name[element].member`,
    );
  return found.map(([, member, element]) => (member === undefined ? { element: element ?? '' } : { member }));
}

function putValue(putting: PutContext, body: JsonObject, [first, ...rest]: readonly PathStep[]): JsonObject {
  const { fields, path } = putting;
  const name = first?.member ?? '';
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) {
    const guess = nearest(name, Object.keys(fields));
    const hint =
      guess === undefined ? `these can be set: ${Object.keys(fields).join(', ')}` : `did you mean \`${guess}\`?`;
    throw new PathError(`\`${path}\` names no field that can be set; ${hint}`);
  }
  if (rest.length === 0) return { ...body, [name]: withResolvedReferences(putting, name, field, body) };
  return { ...body, [name]: putInside(putting, field, body[name], rest) };
}

/** Returns the value of a field after following the rest of the path into it. */
function putInside(putting: PutContext, field: AnyField, stored: Json | undefined, rest: readonly PathStep[]): Json {
  const [next, ...deeper] = rest;
  const { element } = next ?? {};
  if (field.type === 'object' && element === undefined)
    return putValue({ ...putting, fields: field.fields }, isObject(stored) ? stored : {}, rest);
  if (element === undefined) throw notDivisibleError(putting);
  if (field.type === 'keyed') return putInEntries(putting, field, stored, element, deeper);
  if (deeper.length > 0) throw notDivisibleError(putting);
  if (field.type === 'map') return putMember(field, isObject(stored) ? stored : {}, element, putting.value);
  if (field.type === 'refs' || field.type === 'members')
    return putInSet(putting, stored, putting.resolve(field.kind, element, putting.path), idOf);
  if (field.type === 'list' && field.set)
    return putInSet(putting, stored, elementOf(field.of, element), (one) => canonicalElement(field.of, one));
  throw notDivisibleError(putting);
}

function notDivisibleError({ path }: PutContext): PathError {
  return new PathError(`\`${path}\` is inside a value that can only be set as a whole; name only the field`);
}

/** Returns the entries of a keyed list with one entry changed, added, or removed (`null`). */
function putInEntries(
  putting: PutContext,
  field: Extract<AnyField, { readonly type: 'keyed' }>,
  stored: Json | undefined,
  element: string,
  deeper: readonly PathStep[],
): Json {
  const entries = keyedEntries(field.key, Array.isArray(stored) ? (stored as readonly JsonObject[]) : []);
  const at = entries.findIndex(([unit]) => unit === element);
  const entry = entries[at]?.[1];
  if (deeper.length > 0 && entry === undefined)
    throw new PathError(
      `\`${putting.path}\` names an entry that does not exist; there are ${entries.map(([unit]) => unit).join(', ')}`,
    );
  const changed =
    deeper.length > 0 ? putInEntry(putting, field.fields, entry ?? {}, deeper) : wholeEntry(putting, field, entry);
  const kept = entries.map(([, one], index) => (index === at ? changed : one));
  return (entry === undefined ? [...kept, changed] : kept).filter((one) => one !== null);
}

function putInEntry(putting: PutContext, fields: Fields, entry: JsonObject, deeper: readonly PathStep[]): JsonObject {
  return putValue({ ...putting, fields }, entry, deeper);
}

function wholeEntry(
  { value, resolve, path }: PutContext,
  field: Extract<AnyField, { readonly type: 'keyed' }>,
  entry: JsonObject | undefined,
): Json {
  if (!isObject(value)) return value;
  const id = entry?.['id'];
  const given = mapReferences(field.fields, value, ({ kind, text }) => resolve(kind, text, path));
  return { ...(id === undefined ? {} : { id }), ...given };
}

/** Returns a map with one member set, under the given name, which may be another spelling of a stored name. */
function putMember(field: MapField, stored: JsonObject, name: string, value: Json): JsonObject {
  const canonical = memberName(field, name);
  const others = Object.entries(stored).filter(([other]) => memberName(field, other) !== canonical);
  return { ...Object.fromEntries(others), [name]: value };
}

/**
 * Returns a set with an element added or removed. `keyOf` returns the text by which elements are compared: `stored` has
 * the spelling in which its elements were written, and the path may have another.
 */
function putInSet(
  { path, value }: PutContext,
  stored: Json | undefined,
  element: Json,
  keyOf: (value: Json) => string,
): Json {
  if (typeof value !== 'boolean')
    throw new PathError(`\`${path}\` is an element of a set; write ${path}=true to add it, ${path}=false to remove it`);
  const elements = Array.isArray(stored) ? stored : [];
  const key = keyOf(element);
  const others = elements.filter((one) => keyOf(one) !== key);
  if (!value) return others;
  return others.length < elements.length ? elements : [...elements, element];
}

/** Returns the element of a set that a path names, which is a text, with the type of the set's elements. */
function elementOf({ type }: AnyField, text: string): Json {
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}

function canonicalElement(field: AnyField, element: Json): string {
  return String(normalize({ element: field }, { element }).spec['element'] ?? element);
}

function idOf(value: Json): string {
  return String(isObject(value) ? value['id'] : value);
}

/** Returns the value with its references replaced by ids. */
function withResolvedReferences(
  { value, resolve, path }: PutContext,
  name: string,
  field: AnyField,
  body: JsonObject,
): Json {
  const discriminator = field.type === 'refByType' ? { [field.by]: body[field.by] ?? null } : {};
  const fields = { [name]: field };
  const given = mapReferences(fields, { ...discriminator, [name]: value }, ({ kind, text }) =>
    resolve(kind, text, path),
  );
  return given[name] ?? null;
}
