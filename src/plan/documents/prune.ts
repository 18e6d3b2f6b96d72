import { shouldYield } from '../../lib/steps.ts';
import type { Problem } from '../../model/problem.ts';
import { facetsOf, parentField } from '../../model/state/facets.ts';
import { equalContent } from '../../model/state/members.ts';
import { derivedFromId, type StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import { describeReferrer } from '../checks/referrers.ts';
import type { Edit } from '../finish.ts';
import { withKeyIf } from '../keyed-account.ts';
import { detachObject } from '../ownership/detach.ts';
import { withoutSourceOrigins } from '../ownership/membership.ts';
import { overridesMember } from '../ownership/overrides.ts';
import { stateUnits } from '../ownership/state-units.ts';
import { isPrunable } from './annotations.ts';

/** Result of pruning: changes to the objects that a source no longer states. */
export interface PruneResult {
  readonly edits: readonly Edit[];
  /** Ids of the objects to delete. */
  readonly leaving: ReadonlySet<string>;
  /**
   * Warnings: objects that are kept because they are in use, left to another source, or outside the scope. An object in
   * use stays owned, and its deletion is tried again.
   */
  readonly warnings: readonly Problem[];
}

type StatedObjects = ReadonlyMap<string, StoredObject | undefined>;

/** Objects that a source stated until now and no longer states. */
export interface PruneInput {
  readonly snapshot: Snapshot;
  readonly source: string;
  readonly gone: readonly StoredObject[];
  /** Objects that the source states now, by id, in their planned state; `undefined` while that is not known. */
  readonly stated: StatedObjects;
  /** Time of the plan, in ISO 8601. */
  readonly now: string;
  /** Returns the source that claims an object and does not have it yet; `undefined` when there is none. */
  claimantOf(kind: string, key: string): string | undefined;
  /** Whether an object is outside the scope of the source, so that the source may neither state nor delete it. */
  isOutsideScope(object: StoredObject): boolean;
}

/**
 * Plans the objects that the source no longer states. Objects that it owns are deleted. If other sources state an owned
 * object, one of them becomes its owner; if another source claims it, it is left to that source unchanged. Objects that
 * the source only stated are released. An object in use is kept and reported. An object outside the scope, after the
 * scope was narrowed, is released unchanged. Yields regularly.
 */
export function* pruneObjects(input: PruneInput): Generator<undefined, PruneResult> {
  const { snapshot, source, stated } = input;
  const outside = input.gone.filter((object) => input.isOutsideScope(object));
  const apart = new Set(outside);
  const gone = outside.length === 0 ? input.gone : input.gone.filter((object) => !apart.has(object));
  const owned = gone.filter(
    (object) => object.owner === source && otherSourcesOf(object, source).length === 0 && !isSystem(snapshot, object),
  );
  const handovers = owned.flatMap((object) => {
    const claimant = input.claimantOf(object.kind, object.key ?? '');
    return claimant === undefined ? [] : [{ object, claimant }];
  });
  const left = new Set(handovers.map(({ object }) => object));
  const candidates = owned.filter((object) => !left.has(object));
  const deletable = new Set(candidates);
  const released = [
    ...gone.filter((object) => !deletable.has(object)).map((object) => releaseEdit(input, object, left.has(object))),
    ...outside.map((before) => ({ before, after: detachObject(snapshot, before, source) })),
  ];
  const known =
    released.length === 0 ? stated : new Map([...stated, ...released.map(({ after }) => [after.id, after] as const)]);
  yield undefined;
  const { leaving, blocked } = yield* decideDeletions(snapshot, candidates, known);
  const deleted: readonly Edit[] = candidates.filter((object) => leaving.has(object.id)).map((before) => ({ before }));
  const warnings = [
    ...blocked.map(({ object, warning }) => ({ ...warning, ...formerPosition(source, object) })),
    ...handovers.map((handover) => ({ ...handoverWarning(handover), ...formerPosition(source, handover.object) })),
    ...outside.map((object) => ({ ...outsideWarning(source, object), ...formerPosition(source, object) })),
  ];
  return { edits: [...deleted, ...released], leaving, warnings };
}

/** Returns the file and line where the source stated the object until now. */
function formerPosition(source: string, { declared }: StoredObject): Pick<Problem, 'file' | 'line'> {
  const declaration = declared.find((one) => one.source === source);
  return declaration === undefined ? {} : { file: declaration.file, line: declaration.line };
}

function outsideWarning(source: string, { kind, key, name }: StoredObject): Problem {
  const shown = key ?? name;
  const message = `${kind} ${shown} is no longer stated and is outside the scope of the source ${source}: it is released and stays unchanged; to delete it, use the API, or widen the scope again first`;
  return { code: 'scope_exceeded', kind, key: shown, message };
}

function handoverWarning({ object, claimant }: { readonly object: StoredObject; readonly claimant: string }): Problem {
  const { kind, key = object.name } = object;
  const message = `${kind} ${key} is handed over to the source ${claimant}, which states it: it stays unchanged until that source is applied`;
  return { code: 'object_handed_over', kind, key, message };
}

function otherSourcesOf(object: StoredObject, source: string): readonly string[] {
  return object.declared
    .filter((declaration) => declaration.source !== source)
    .map((declaration) => declaration.source);
}

function isSystem(snapshot: Snapshot, object: StoredObject): boolean {
  return snapshot.registry.get(object.kind).isSystem?.(object) === true;
}

/** An object that is kept because it is in use. */
interface BlockedDeletion {
  readonly object: StoredObject;
  readonly warning: Problem;
}

/**
 * Decides which candidates are deleted. A candidate with a user that stays is kept, and then keeps the objects that it
 * uses itself; this repeats until no more candidates are kept.
 */
function* decideDeletions(
  snapshot: Snapshot,
  candidates: readonly StoredObject[],
  stated: StatedObjects,
): Generator<undefined, { readonly leaving: ReadonlySet<string>; readonly blocked: readonly BlockedDeletion[] }> {
  const leaving = new Set(candidates.map((object) => object.id));
  const blocked: BlockedDeletion[] = [];
  let changed = true;
  while (changed) {
    changed = false;
    for (const [at, object] of candidates.entries()) {
      if (shouldYield(at)) yield undefined;
      if (!leaving.has(object.id)) continue;
      const users = usersOf(snapshot, object, leaving, stated);
      if (users.length === 0) continue;
      leaving.delete(object.id);
      changed = true;
      const message = `${object.kind} ${object.key ?? object.name} is no longer stated but still in use by ${users.join(', ')}; it is kept until they stop using it`;
      const { kind, key = object.name } = object;
      blocked.push({ object, warning: { code: 'in_use', kind, key, message, usedBy: users } });
    }
  }
  return { leaving, blocked };
}

/**
 * Returns descriptions of the objects that keep a candidate. An object that the source states or releases counts only
 * when it will still refer to the candidate because another author set the reference. A reference stated in a document
 * is a problem of the document instead (`reference_deleted`).
 */
function usersOf(
  snapshot: Snapshot,
  object: StoredObject,
  leaving: ReadonlySet<string>,
  stated: StatedObjects,
): readonly string[] {
  const letsGo = (id: string, field: string) => {
    if (!stated.has(id) || field === parentField) return false;
    const after = stated.get(id);
    return after === undefined || !facetsOf(snapshot.registry, after).references.some(({ to }) => to === object.id);
  };
  const referrers = snapshot.referrersOf(object.id);
  // A derived object refers to whatever its origin refers to, so the origin is checked instead.
  const asks = (id: string | undefined) => id !== undefined && referrers.some(({ from }) => from.id === id);
  const users = referrers.filter(
    ({ from, field }) =>
      !leaving.has(from.id) && from.id !== object.id && !letsGo(from.id, field) && !asks(derivedFromId(from)),
  );
  const all = [...users.map(({ from }) => from), ...otherUsersOf(snapshot, object, leaving, stated)];
  return [...new Set(all.map((from) => describeReferrer(snapshot, from)))];
}

/** Returns the objects, in their planned state, that keep a candidate without referring to it. */
function otherUsersOf(
  snapshot: Snapshot,
  object: StoredObject,
  leaving: ReadonlySet<string>,
  stated: StatedObjects,
): readonly StoredObject[] {
  const { usedBy } = snapshot.registry.get(object.kind);
  if (usedBy === undefined) return [];
  const put = [...stated.values()].flatMap((after) => after ?? []);
  return usedBy(object, snapshot.with({ put, remove: [] })).filter(({ id }) => !leaving.has(id));
}

/**
 * Returns the edit that releases an object. An object that is left to another source keeps its key, by which that
 * source finds it.
 */
function releaseEdit(
  { snapshot, source, now }: PruneInput,
  object: StoredObject,
  isLeft: boolean,
): Edit & { readonly after: StoredObject } {
  const others = otherSourcesOf(object, source);
  const declared = object.declared.filter((declaration) => declaration.source !== source);
  const kind = snapshot.registry.get(object.kind);
  const fields = kind.spec;
  // An object without another owner keeps its values. With other sources, units that only this source stated return to
  // their defaults.
  const { content, resets, overrides } =
    others.length > 0
      ? stateUnits(fields, object, source, {}, { now })
      : { content: withoutSourceOrigins(fields, object, declared), resets: [], overrides: [] };
  const next = object.owner === source ? others[0] : object.owner;
  const isNamed = isLeft || declared.length > 0 || next !== undefined || !isPrunable(kind);
  const { owner: _, overrides: __, ...rest } = withKeyIf(isNamed, object);
  const after: StoredObject = {
    ...rest,
    ...(next === undefined ? {} : { owner: next }),
    ...content,
    ...overridesMember(overrides),
    declared,
    updatedAt: equalContent(content, object) ? object.updatedAt : now,
  };
  return { before: object, after, resets };
}
