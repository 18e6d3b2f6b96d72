import { asObjectOrEmpty, equalJson, type Json, type JsonObject } from '../../lib/json.ts';
import { increasingKeys, keyAfter } from '../../lib/sort-keys.ts';
import { emptySortedMap, type SortedMap } from '../../lib/sorted-map.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import type { GivenOrder } from '../schema/entries.ts';
import type { Fields } from '../schema/field.ts';
import { entriesOf } from '../schema/field-search.ts';
import { sortMaps } from '../schema/map-order.ts';
import type { SortKeys, StoredObject } from './object.ts';

/** Origins that put a member into a set. A member without origins is not in the set. */
export type MemberOrigins = readonly string[];

/** Origin of members that requests added. */
export const apiOrigin = 'api';

/** A membership: the members of an object by id, each with its origins. */
export type Members = SortedMap<MemberOrigins>;

/** Content of an object: its spec, and its memberships by field. */
export type Content = Pick<StoredObject, 'spec' | 'members'>;

/** A member that joined a set, left it, or changed its origins. */
export interface MemberChange {
  readonly id: string;
  readonly was: MemberOrigins;
  readonly is: MemberOrigins;
}

/** A member with its new origins; an empty list removes it. */
export type MemberEdit = readonly [id: string, origins: MemberOrigins];

const noMembers: Members = emptySortedMap();

/** Content of an object that does not exist. */
export const emptyContent: Content = { spec: {} };

const membershipFieldsCache = new WeakMap<Fields, readonly string[]>();

/** Returns the names of the membership fields. */
export function membershipFields(fields: Fields): readonly string[] {
  const known =
    membershipFieldsCache.get(fields) ??
    entriesOf(fields).flatMap(([name, { type }]) => (type === 'members' ? [name] : []));
  membershipFieldsCache.set(fields, known);
  return known;
}

/** Returns only the content of an object. */
export function pickContent({ spec, members }: Content): Content {
  return members === undefined ? { spec } : { spec, members };
}

/** Returns the members of an object in a field; empty when there are none. */
export function membersIn(content: Content | undefined, field: string): Members {
  return content?.members?.[field] ?? noMembers;
}

/** Returns the origins that put a member into a set; empty when it is not in the set. */
export function originsOf(content: Content, field: string, id: string): MemberOrigins {
  return membersIn(content, field).get(id) ?? [];
}

/**
 * Returns the members in which two versions of an object differ, by id. The cost is proportional to the difference when
 * one version was derived from the other.
 */
export function changedMembers(
  before: Content | undefined,
  after: Content | undefined,
  field: string,
): readonly MemberChange[] {
  const [old, now] = [membersIn(before, field), membersIn(after, field)];
  return now.changedSince(old).flatMap((id) => {
    const [was, is] = [old.get(id) ?? [], now.get(id) ?? []];
    return equalJson(was, is) ? [] : [{ id, was, is }];
  });
}

/** Returns the content with new origins for some members of a set. */
export function withMemberEdits<C extends Content>(content: C, field: string, edits: readonly MemberEdit[]): C {
  const members = membersIn(content, field).with(
    edits.map(([id, origins]) => [id, origins.length === 0 ? undefined : origins]),
  );
  return { ...content, members: { ...content.members, [field]: members } };
}

/** Whether two objects have the same content. */
export function equalContent(a: Content, b: Content): boolean {
  const fields = new Set([...Object.keys(a.members ?? {}), ...Object.keys(b.members ?? {})]);
  return equalJson(a.spec, b.spec) && [...fields].every((field) => changedMembers(a, b, field).length === 0);
}

/**
 * Returns the content of an object as one JSON value, each membership as a map from member to origins. Visits every
 * member.
 */
export function completeSpec({ spec, members = {} }: Content): JsonObject {
  const fields = Object.entries(members);
  if (fields.length === 0) return spec;
  return { ...spec, ...Object.fromEntries(fields.map(([field, edges]) => [field, Object.fromEntries(edges)])) };
}

/**
 * Splits a complete spec into a spec and its memberships. Members without stated origins keep their previous origins;
 * new ones get `origin`. Unchanged parts of a membership are shared with `before`.
 */
export function contentFromSpec(
  fields: Fields,
  complete: JsonObject,
  before: Content = emptyContent,
  origin: string = apiOrigin,
): Content {
  const names = membershipFields(fields);
  if (names.length === 0) return { spec: complete };
  const spec = Object.fromEntries(Object.entries(complete).filter(([name]) => !names.includes(name)));
  const known: Content = { spec, members: Object.fromEntries(names.map((name) => [name, membersIn(before, name)])) };
  return names.reduce(
    (content, name) => withMemberEdits(content, name, editsTo(membersIn(before, name), complete[name] ?? {}, origin)),
    known,
  );
}

/** Returns the edits that turn a membership into the one in a complete spec. */
function editsTo(before: Members, value: Json, origin: string): readonly MemberEdit[] {
  const listed = (id: string) => before.get(id) ?? [origin];
  const target: ReadonlyMap<string, MemberOrigins> = Array.isArray(value)
    ? new Map(value.map((id) => [String(id), listed(String(id))]))
    : new Map(Object.entries(asObjectOrEmpty(value)).map(([id, origins]) => [id, readOrigins(origins, origin)]));
  const gone = before.keys().filter((id) => !target.has(id));
  const changed = [...target].filter(([id, origins]) => !equalJson(before.get(id), origins));
  return [...gone.map((id) => [id, []] as const), ...changed];
}

/** Returns the origins of a member in a complete spec. An archive may contain any value here. */
function readOrigins(value: Json, origin: string): MemberOrigins {
  return Array.isArray(value) ? value.map(String) : [origin];
}

/** A changed sort key of a membership element. `key` absent: the element is sorted by its id. */
export type SortKeyChange = {
  readonly field: string;
  readonly id: string;
  readonly key?: string;
};

/** Returns the elements of a membership in the order in which they were last written. */
export function membersInOrder(object: StoredObject, field: string): readonly string[] {
  const ids = membersIn(object, field).keys();
  const keys = object.sortKeys?.[field];
  if (keys === undefined) return ids;
  return ids
    .map((id) => [keys[id] ?? id, id] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, id]) => id);
}

/**
 * Returns the object with updated sort keys for its memberships. Existing members keep their place; new ones follow in
 * the given order. Ids increase over time, so a member that is newer than all others needs no sort key, and enrolment
 * writes none.
 */
export function withMemberOrder(
  kind: Kind,
  before: StoredObject | undefined,
  after: StoredObject,
  given: GivenOrder = { lists: {}, whole: false },
): StoredObject {
  const moved = membershipFields(kind.spec).flatMap((field) => sortKeyChangesIn(field, before, after, given));
  return moved.length === 0 ? after : withSortKeys(after, moved);
}

function sortKeyChangesIn(
  field: string,
  before: StoredObject | undefined,
  after: StoredObject,
  { lists, whole }: GivenOrder,
): readonly SortKeyChange[] {
  const keys = after.sortKeys?.[field] ?? {};
  const moves = changedMembers(before, after, field);
  const gone = moves.filter(({ id, is }) => is.length === 0 && keys[id] !== undefined).map(({ id }) => ({ field, id }));
  const stated = lists[field];
  if (whole) return [...gone, ...rearrangedSortKeys(field, stated, after)];
  const come = moves.filter(({ was }) => was.length === 0).map(({ id }) => id);
  if (come.length === 0) return gone;
  const isNew = new Set(come);
  const inOrder = stated === undefined ? come : [...new Set([...stated.filter((id) => isNew.has(id)), ...come])];
  return [...gone, ...appendedSortKeys(field, inOrder, lastSortKey(before, field))];
}

/** Returns the greatest sort position in a membership, or a greater one. */
function lastSortKey(before: StoredObject | undefined, field: string): string {
  const { lastKey } = membersIn(before, field);
  return Object.values(before?.sortKeys?.[field] ?? {}).reduce((a, b) => (a < b ? b : a), lastKey);
}

function appendedSortKeys(field: string, ids: readonly string[], from: string): readonly SortKeyChange[] {
  const moves: SortKeyChange[] = [];
  let last = from;
  for (const id of ids) {
    const key = id > last ? id : keyAfter(last);
    if (key !== id) moves.push({ field, id, key });
    last = key;
  }
  return moves;
}

/** Returns the key moves for a membership whose members were all given again. Changes as few keys as possible. */
function rearrangedSortKeys(
  field: string,
  stated: readonly string[] | undefined,
  object: StoredObject,
): readonly SortKeyChange[] {
  const keys = object.sortKeys?.[field] ?? {};
  const members = membersIn(object, field);
  const ids = (stated ?? []).filter((id) => members.get(id) !== undefined);
  const target = increasingKeys(ids.map((id) => keys[id] ?? id));
  return ids.flatMap((id, at) => {
    const key = target[at];
    if (key === undefined || key === (keys[id] ?? id)) return [];
    return [{ field, id, ...(key === id ? {} : { key }) }];
  });
}

/** Returns the sort keys in which two versions of an object differ. */
export function changedSortKeys(
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): readonly SortKeyChange[] {
  const [was, is] = [before?.sortKeys ?? {}, after?.sortKeys ?? {}];
  if (was === is) return [];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((field) => {
    const [old, now] = [was[field] ?? {}, is[field] ?? {}];
    if (old === now) return [];
    const gone = Object.keys(old).filter((id) => now[id] === undefined);
    const come = Object.entries(now).filter(([id, key]) => old[id] !== key);
    return [...gone.map((id) => ({ field, id })), ...come.map(([id, key]) => ({ field, id, key }))];
  });
}

/** Returns the object with its sort keys moved. */
export function withSortKeys(object: StoredObject, moves: readonly SortKeyChange[]): StoredObject {
  const { sortKeys = {}, ...rest } = object;
  const fields: Record<string, Record<string, string>> = Object.fromEntries(
    Object.entries(sortKeys).map(([field, keys]) => [field, { ...keys }]),
  );
  for (const { field, id, key } of moves) {
    const keys = fields[field] ?? {};
    if (key === undefined) delete keys[id];
    else keys[id] = key;
    fields[field] = keys;
  }
  const left: SortKeys = Object.fromEntries(Object.entries(fields).filter(([, keys]) => Object.keys(keys).length > 0));
  return Object.keys(left).length === 0 ? rest : { ...rest, sortKeys: left };
}

/** An object as one JSON value with its memberships inside the spec, as the history, its base and archives store it. */
export type ObjectImage = Omit<StoredObject, 'members'> & { readonly members?: never };

/** Converts an object to its image. */
export function imageOf({ members, ...object }: StoredObject): ObjectImage {
  return members === undefined ? object : { ...object, spec: completeSpec({ spec: object.spec, members }) };
}

/** Converts an image to its object, in canonical order. */
export function objectFromImage(registry: Registry, image: ObjectImage): StoredObject {
  const fields = registry.find(image.kind)?.spec ?? {};
  return sortMaps(fields, { ...image, ...contentFromSpec(fields, image.spec) });
}
