import { equalJson, type Json, type JsonObject, membersOf } from '../../lib/json.ts';
import { increasingKeys, keyAfter } from '../../lib/sort-keys.ts';
import { emptySortedMap, type SortedMap } from '../../lib/sorted-map.ts';
import type { Kind } from '../declare/kind.ts';
import type { Registry } from '../declare/registry.ts';
import { inCanonicalOrder } from '../schema/canonical-order.ts';
import type { GivenOrder } from '../schema/entries.ts';
import { entriesOf, type Fields } from '../schema/field.ts';
import type { SortKeys, StoredObject } from './object.ts';

/** The origins that put a member into a set; a member without an origin is not in it. */
export type MemberOrigins = readonly string[];

/** The origin of members that requests put there. */
export const apiOrigin = 'api';

/** A membership: the edges from an object to its members, by id, each with its origins. */
export type Members = SortedMap<MemberOrigins>;

/** What an object says: its spec, and beside it its memberships by field. */
export type Content = Pick<StoredObject, 'spec' | 'members'>;

/** A member that came into a set, left it, or is held there by other origins than before. */
export interface MemberMove {
  readonly id: string;
  readonly was: MemberOrigins;
  readonly is: MemberOrigins;
}

/** A member with the origins that it has from now on. */
export type MemberEdit = readonly [id: string, origins: MemberOrigins];

const noMembers: Members = emptySortedMap();

/** What an object says that is not there. */
export const noContent: Content = { spec: {} };

const fieldsOfMembers = new WeakMap<Fields, readonly string[]>();

/** The names of the membership fields among these. */
export function membershipFields(fields: Fields): readonly string[] {
  const known =
    fieldsOfMembers.get(fields) ?? entriesOf(fields).flatMap(([name, { type }]) => (type === 'members' ? [name] : []));
  fieldsOfMembers.set(fields, known);
  return known;
}

/** Only what an object says. */
export function pickContent({ spec, members }: Content): Content {
  return members === undefined ? { spec } : { spec, members };
}

/** The members of an object in a field. */
export function membersIn(content: Content | undefined, field: string): Members {
  return content?.members?.[field] ?? noMembers;
}

/** The origins that put a member into a set. */
export function originsOf(content: Content, field: string, id: string): MemberOrigins {
  return membersIn(content, field).get(id) ?? [];
}

/** In which members two versions of an object differ, by id. Costs no more than the difference when one came of the other. */
export function movedMembers(
  before: Content | undefined,
  after: Content | undefined,
  field: string,
): readonly MemberMove[] {
  const [old, now] = [membersIn(before, field), membersIn(after, field)];
  return now.changedSince(old).flatMap((id) => {
    const [was, is] = [old.get(id) ?? [], now.get(id) ?? []];
    return equalJson(was, is) ? [] : [{ id, was, is }];
  });
}

/** The object with other origins on some members of a set. */
export function withMembers<C extends Content>(content: C, field: string, edits: readonly MemberEdit[]): C {
  const members = membersIn(content, field).with(
    edits.map(([id, origins]) => [id, origins.length === 0 ? undefined : origins]),
  );
  return { ...content, members: { ...content.members, [field]: members } };
}

/** Whether two objects say the same. */
export function equalContent(a: Content, b: Content): boolean {
  const fields = new Set([...Object.keys(a.members ?? {}), ...Object.keys(b.members ?? {})]);
  return equalJson(a.spec, b.spec) && [...fields].every((field) => movedMembers(a, b, field).length === 0);
}

/** All that an object says as one JSON value, with each membership as member to origins. Walks every member. */
export function completeSpec({ spec, members = {} }: Content): JsonObject {
  const fields = Object.entries(members);
  if (fields.length === 0) return spec;
  return { ...spec, ...Object.fromEntries(fields.map(([field, edges]) => [field, Object.fromEntries(edges)])) };
}

/**
 * What a complete spec says, with its memberships beside it. Members that it merely lists keep the origins that they had
 * before, and new ones get this one. Memberships share with those before what is as it was.
 */
export function contentOf(
  fields: Fields,
  complete: JsonObject,
  before: Content = noContent,
  origin: string = apiOrigin,
): Content {
  const names = membershipFields(fields);
  if (names.length === 0) return { spec: complete };
  const spec = Object.fromEntries(Object.entries(complete).filter(([name]) => !names.includes(name)));
  const known: Content = { spec, members: Object.fromEntries(names.map((name) => [name, membersIn(before, name)])) };
  return names.reduce(
    (content, name) => withMembers(content, name, editsTo(membersIn(before, name), complete[name] ?? {}, origin)),
    known,
  );
}

/** What leads from a membership to the one that a complete spec has. */
function editsTo(before: Members, value: Json, origin: string): readonly MemberEdit[] {
  const listed = (id: string) => before.get(id) ?? [origin];
  const target: ReadonlyMap<string, MemberOrigins> = Array.isArray(value)
    ? new Map(value.map((id) => [String(id), listed(String(id))]))
    : new Map(Object.entries(membersOf(value)).map(([id, origins]) => [id, readOrigins(origins, origin)]));
  const gone = before.keys().filter((id) => !target.has(id));
  const changed = [...target].filter(([id, origins]) => !equalJson(before.get(id), origins));
  return [...gone.map((id) => [id, []] as const), ...changed];
}

/** The origins of a member in a complete spec; an archive may hold anything. */
function readOrigins(value: Json, origin: string): MemberOrigins {
  return Array.isArray(value) ? value.map(String) : [origin];
}

/** An element of a membership whose sort key is another one than before; without a key it stands where its id puts it. */
export type KeyMove = {
  readonly field: string;
  readonly id: string;
  readonly key?: string;
};

/** The elements of a membership in the order in which they were last written. */
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
 * The object with sort keys for its memberships: members that stay keep their place, new ones follow as they were given.
 * Ids grow, so that a member that is newer than all others needs no key, and enrolment writes none.
 */
export function withMemberOrder(
  kind: Kind,
  before: StoredObject | undefined,
  after: StoredObject,
  given: GivenOrder = { lists: {}, whole: false },
): StoredObject {
  const moved = membershipFields(kind.spec).flatMap((field) => movesIn(field, before, after, given));
  return moved.length === 0 ? after : withSortKeys(after, moved);
}

function movesIn(
  field: string,
  before: StoredObject | undefined,
  after: StoredObject,
  { lists, whole }: GivenOrder,
): readonly KeyMove[] {
  const keys = after.sortKeys?.[field] ?? {};
  const moves = movedMembers(before, after, field);
  const gone = moves.filter(({ id, is }) => is.length === 0 && keys[id] !== undefined).map(({ id }) => ({ field, id }));
  const stated = lists[field];
  if (whole) return [...gone, ...rearranged(field, stated, after)];
  const come = moves.filter(({ was }) => was.length === 0).map(({ id }) => id);
  if (come.length === 0) return gone;
  const isNew = new Set(come);
  const inOrder = stated === undefined ? come : [...new Set([...stated.filter((id) => isNew.has(id)), ...come])];
  return [...gone, ...appended(field, inOrder, lastPlace(before, field))];
}

/** The greatest place that is taken, or one that is greater. */
function lastPlace(before: StoredObject | undefined, field: string): string {
  const { lastKey } = membersIn(before, field);
  return Object.values(before?.sortKeys?.[field] ?? {}).reduce((a, b) => (a < b ? b : a), lastKey);
}

function appended(field: string, ids: readonly string[], from: string): readonly KeyMove[] {
  const moves: KeyMove[] = [];
  let last = from;
  for (const id of ids) {
    const key = id > last ? id : keyAfter(last);
    if (key !== id) moves.push({ field, id, key });
    last = key;
  }
  return moves;
}

/** Every member has been given: as few keys as possible change. */
function rearranged(field: string, stated: readonly string[] | undefined, object: StoredObject): readonly KeyMove[] {
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

/** In which sort keys two versions of an object differ. */
export function movedSortKeys(before: StoredObject | undefined, after: StoredObject | undefined): readonly KeyMove[] {
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

/** The object after its sort keys moved. */
export function withSortKeys(object: StoredObject, moves: readonly KeyMove[]): StoredObject {
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

/** An object as one JSON value, as the history, its base and archives keep it: its memberships are in its spec. */
export type ObjectImage = Omit<StoredObject, 'members'> & { readonly members?: never };

/** The image of an object. */
export function imageOf({ members, ...object }: StoredObject): ObjectImage {
  return members === undefined ? object : { ...object, spec: completeSpec({ spec: object.spec, members }) };
}

/** The object of an image, in canonical order. */
export function objectOf(registry: Registry, image: ObjectImage): StoredObject {
  const fields = registry.find(image.kind)?.spec ?? {};
  return inCanonicalOrder(fields, { ...image, ...contentOf(fields, image.spec) });
}
