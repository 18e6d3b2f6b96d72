import type { JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { listOrderMember, listOrderOf } from '../../model/schema/entries.ts';
import { canonicalStated } from '../../model/schema/normalize.ts';
import { mapReferences } from '../../model/schema/references.ts';
import { completeSpec, contentFromSpec } from '../../model/state/members.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { KeyedAccount } from '../keyed-account.ts';
import type { MatchedDocument } from './stated-object.ts';

/** Returns the targets, where each target to re-create gets a new id and `replaces` set to the id of the old object. */
export function assignNewIds(
  targets: readonly MatchedDocument[],
  recreated: ReadonlySet<string>,
  newId: (kind: Kind) => string,
): readonly MatchedDocument[] {
  return targets.map((target) =>
    recreated.has(target.id) ? { ...target, id: newId(target.desired.kind), replaces: target.id } : target,
  );
}

/**
 * Returns the base in which every reference to a re-created object points to the new object, regardless of its owner.
 */
export function withNewReferences(base: KeyedAccount, targets: readonly MatchedDocument[], now: string): KeyedAccount {
  const ids = new Map(targets.flatMap(({ id, replaces }) => (replaces === undefined ? [] : [[replaces, id] as const])));
  const { snapshot } = base;
  const referrers = new Map(
    [...ids.keys()].flatMap((id) => snapshot.referrersOf(id)).map(({ from }) => [from.id, from] as const),
  );
  const put = [...referrers.values()].map((object) => redirected(snapshot, object, ids, now));
  return {
    snapshot: snapshot.with({ put, remove: [] }),
    moved: new Set([...base.moved, ...put.map(({ id }) => id)]),
  };
}

/** Keeps the position in lists: a re-created object takes the position of the old one. */
function withNewListOrder(object: StoredObject, ids: ReadonlyMap<string, string>): JsonObject {
  const order = Object.entries(listOrderOf(object));
  if (order.length === 0) return object.derived;
  const renamed = order.map(([path, names]) => [path, names.map((name) => ids.get(name) ?? name)]);
  return { ...object.derived, [listOrderMember]: Object.fromEntries(renamed) };
}

function redirected(
  snapshot: Snapshot,
  object: StoredObject,
  ids: ReadonlyMap<string, string>,
  now: string,
): StoredObject {
  const kind = snapshot.registry.get(object.kind);
  // Sets are sorted by id. Fields that are not stated stay out, so that no default is filled in.
  const mapped = (spec: JsonObject): JsonObject =>
    canonicalStated(
      kind,
      mapReferences(kind.spec, spec, ({ text }) => ids.get(text) ?? text),
    ).spec;
  const parent = object.parent === undefined ? undefined : (ids.get(object.parent) ?? object.parent);
  return {
    ...object,
    ...(parent === undefined ? {} : { parent }),
    ...contentFromSpec(kind.spec, mapped(completeSpec(object)), object),
    derived: withNewListOrder(object, ids),
    declared: object.declared.map((declaration) => ({ ...declaration, stated: mapped(declaration.stated) })),
    updatedAt: now,
  };
}
