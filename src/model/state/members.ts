import { equalJson, type Json, type JsonObject, membersOf } from '../../lib/json.ts';
import { emptySortedMap, type SortedMap } from '../../lib/sorted-map.ts';
import { entriesOf, type Fields } from '../schema/field.ts';
import type { StoredObject } from './object.ts';

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

const nobody: Members = emptySortedMap();

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
  return content?.members?.[field] ?? nobody;
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
  const wanted: ReadonlyMap<string, MemberOrigins> = Array.isArray(value)
    ? new Map(value.map((id) => [String(id), listed(String(id))]))
    : new Map(Object.entries(membersOf(value)).map(([id, origins]) => [id, readOrigins(origins, origin)]));
  const gone = before.keys().filter((id) => !wanted.has(id));
  const changed = [...wanted].filter(([id, origins]) => !equalJson(before.get(id), origins));
  return [...gone.map((id) => [id, []] as const), ...changed];
}

/** The origins of a member in a complete spec; an archive may hold anything. */
function readOrigins(value: Json, origin: string): MemberOrigins {
  return Array.isArray(value) ? value.map(String) : [origin];
}
