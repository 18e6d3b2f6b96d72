import { canOnlyStateExisting } from '../../model/declare/kind.ts';
import type { Document } from '../../model/document.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { ReferenceTargets } from '../checks/resolve.ts';
import { labelOf } from '../view/view.ts';
import type { ReferenceRule } from './scope.ts';
import type { MatchedDocument } from './stated-object.ts';

/** Objects that reference texts may name although they cannot be referred to. */
export interface UnavailableTargets {
  readonly broken: ReadonlySet<string>;
  readonly leaving: ReadonlySet<string>;
  readonly leftOut: readonly Document[];
  /** Rule that decides which references the scope of the source forbids. */
  readonly refusal: ReferenceRule;
  /** Whether an object keeps its own name instead of the stated one, because the source does not change it. */
  isSettled(object: StoredObject, name: string): boolean;
}

/** Maximum number of names compared for hints in one plan, some 20 ms. */
const maxComparedNames = 40_000;

/** Returns the objects that reference texts name in one plan: objects of its documents first, then stored objects. */
export function createReferenceTargets(
  snapshot: Snapshot,
  targets: readonly MatchedDocument[],
  { broken, leaving, leftOut, refusal, isSettled }: UnavailableTargets,
): ReferenceTargets {
  // An object of a kind that documents do not create exists only when it is stored.
  const isThere = ({ desired, existing }: MatchedDocument) =>
    existing !== undefined || !canOnlyStateExisting(desired.kind);
  const [there, absent] = [targets.filter(isThere), targets.filter((target) => !isThere(target))];
  const onlyStated = new Set(absent.map(({ desired }) => `${desired.kind.name}/${desired.key}`));
  let left: ReadonlySet<string> | undefined;
  let renamed: ReadonlyMap<string, string> | undefined;
  let former: ReturnType<typeof formerKeysOf> | undefined;
  const ids = new Map(there.map((target) => [`${target.desired.kind.name}/${target.desired.key}`, target.id]));
  return {
    snapshot,
    desiredId: (kind, key) => ids.get(`${kind}/${key}`),
    desiredKeys: (kind) =>
      targets.filter((target) => target.desired.kind.name === kind).map((target) => target.desired.key),
    isBroken: (kind, key) => broken.has(`${kind}/${key}`),
    isOnlyStated: (kind, key) => onlyStated.has(`${kind}/${key}`),
    isFilteredOut(kind, key) {
      left ??= new Set(leftOut.map((document) => `${document.kind}/${document.metadata.name}`));
      return left.has(`${kind}/${key}`);
    },
    findByFormerKey(kind, text) {
      former ??= formerKeysOf(targets);
      return former.get(`${kind}/${text}`);
    },
    renamedTo(id) {
      renamed ??= keysByRenamedId(targets, isSettled);
      return renamed.get(id);
    },
    hints: { remaining: maxComparedNames },
    isBeingDeleted: (id) => leaving.has(id),
    refusal: (kind, id) => refusal(snapshot.registry.get(kind), id),
    label: (id) => labelOf(snapshot.get(id)) ?? targets.find((target) => target.id === id)?.desired.key,
  };
}

/** Returns the new objects by `Kind/key` of their former keys. */
function formerKeysOf(
  targets: readonly MatchedDocument[],
): ReadonlyMap<string, { readonly id: string; readonly key: string }> {
  const made = targets.filter(({ existing }) => existing === undefined);
  return new Map(
    made.flatMap(({ id, desired: { kind, key, aliases = [] } }) =>
      aliases.map((alias) => [`${kind.name}/${alias}`, { id, key }] as const),
    ),
  );
}

/** Returns the ids of the objects whose display name documents change, with their keys. */
function keysByRenamedId(
  targets: readonly MatchedDocument[],
  isSettled: UnavailableTargets['isSettled'],
): ReadonlyMap<string, string> {
  return new Map(
    targets.flatMap(({ desired: { kind, key, spec }, existing }) => {
      const name = spec[kind.nameField];
      if (existing === undefined || typeof name !== 'string' || name === existing.name) return [];
      return isSettled(existing, name) ? [] : [[existing.id, key] as const];
    }),
  );
}
