import { statesOnly } from '../../model/declare/kind.ts';
import type { Document } from '../../model/document.ts';
import type { StoredObject } from '../../model/state/object.ts';
import type { Snapshot } from '../../model/state/snapshot.ts';
import type { Names } from '../checks/resolve.ts';
import { labelOf } from '../view/view.ts';
import type { ReferenceRule } from './scope.ts';
import type { Target } from './stated-object.ts';

/** What texts of references may mean and is not there. */
export interface NotThere {
  readonly broken: ReadonlySet<string>;
  readonly leaving: ReadonlySet<string>;
  readonly leftOut: readonly Document[];
  /** What the scope of the source keeps from being referred to. */
  readonly refusal: ReferenceRule;
  /** Whether an object keeps a name other than the one that is stated, because the source leaves it alone. */
  isSettled(object: StoredObject, name: string): boolean;
}

/** Some 20 ms of comparing in one plan. */
const mostCompared = 40_000;

/** What the texts of references mean in one plan: its documents first, then the account. */
export function namesOf(
  snapshot: Snapshot,
  targets: readonly Target[],
  { broken, leaving, leftOut, refusal, isSettled }: NotThere,
): Names {
  // What documents only state is not there because a document says so.
  const isThere = ({ desired, existing }: Target) => existing !== undefined || !statesOnly(desired.kind);
  const [there, absent] = [targets.filter(isThere), targets.filter((target) => !isThere(target))];
  const onlyStated = new Set(absent.map(({ desired }) => `${desired.kind.name}/${desired.key}`));
  let left: ReadonlySet<string> | undefined;
  let renamed: ReadonlyMap<string, string> | undefined;
  let former: ReturnType<typeof formerKeysOf> | undefined;
  const ids = new Map(there.map((target) => [`${target.desired.kind.name}/${target.desired.key}`, target.id]));
  return {
    snapshot,
    desired: (kind, key) => ids.get(`${kind}/${key}`),
    desiredKeys: (kind) =>
      targets.filter((target) => target.desired.kind.name === kind).map((target) => target.desired.key),
    isBroken: (kind, key) => broken.has(`${kind}/${key}`),
    isOnlyStated: (kind, key) => onlyStated.has(`${kind}/${key}`),
    isLeftOut(kind, key) {
      left ??= new Set(leftOut.map((document) => `${document.kind}/${document.metadata.name}`));
      return left.has(`${kind}/${key}`);
    },
    former(kind, text) {
      former ??= formerKeysOf(targets);
      return former.get(`${kind}/${text}`);
    },
    renamedTo(id) {
      renamed ??= renamedBy(targets, isSettled);
      return renamed.get(id);
    },
    hints: { left: mostCompared },
    isLeaving: (id) => leaving.has(id),
    refusal: (kind, id) => refusal(snapshot.registry.get(kind), id),
    label: (id) => labelOf(snapshot.get(id)) ?? targets.find((target) => target.id === id)?.desired.key,
  };
}

/** New objects by `Kind/key` of what their documents say they were called. */
function formerKeysOf(targets: readonly Target[]): ReadonlyMap<string, { readonly id: string; readonly key: string }> {
  const made = targets.filter(({ existing }) => existing === undefined);
  return new Map(
    made.flatMap(({ id, desired: { kind, key, aliases = [] } }) =>
      aliases.map((alias) => [`${kind.name}/${alias}`, { id, key }] as const),
    ),
  );
}

/** Ids of the objects to which documents give another display name than they have, with their keys. */
function renamedBy(targets: readonly Target[], isSettled: NotThere['isSettled']): ReadonlyMap<string, string> {
  return new Map(
    targets.flatMap(({ desired: { kind, key, spec }, existing }) => {
      const name = spec[kind.nameField];
      if (existing === undefined || typeof name !== 'string' || name === existing.name) return [];
      return isSettled(existing, name) ? [] : [[existing.id, key] as const];
    }),
  );
}
