import { increasingKeys, keyAfter } from '../../lib/sort-keys.ts';
import type { Kind } from '../declare/kind.ts';
import type { GivenOrder } from '../schema/list-order.ts';
import { membershipFields, membersIn, movedMembers } from './members.ts';
import type { SortKeys, StoredObject } from './object.ts';

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
  const wanted = increasingKeys(ids.map((id) => keys[id] ?? id));
  return ids.flatMap((id, at) => {
    const key = wanted[at];
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
