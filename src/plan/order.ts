import { orderInSteps } from '../lib/order.ts';
import { isTurn } from '../lib/steps.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Problem } from '../model/problem.ts';
import { facetsOf, movedReferences } from '../model/state/facets.ts';
import { type Change, subjectOf } from './plan.ts';

const rank = { create: 0, update: 1, delete: 2 } as const;

/**
 * Changes in the order in which they could be done one by one: a created object after the created ones it refers to,
 * a deleted one after every change that stops referring to it. Ties go by action, kind and key, never by input order. Yields now and then.
 */
export function* orderChanges(registry: Registry, changes: readonly Change[]): Generator<undefined, Ordered> {
  if (changes.length < 2) return { ok: true, changes };
  const created = new Map<string, Change>();
  const deleted = new Map<string, Change>();
  for (const change of changes) {
    if (change.action === 'create') created.set(subjectOf(change).id, change);
    if (change.action === 'delete') deleted.set(subjectOf(change).id, change);
  }
  const before = yield* predecessors(registry, changes, created, deleted);
  const result = yield* orderInSteps(changes, (change) => before.get(change) ?? [], compareChanges);
  return result.ok ? { ok: true, changes: result.order } : { ok: false, problems: [cycleProblem(result.cycle)] };
}

type Ordered =
  | { readonly ok: true; readonly changes: readonly Change[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** For each change the changes that come before it. */
function* predecessors(
  registry: Registry,
  changes: readonly Change[],
  created: ReadonlyMap<string, Change>,
  deleted: ReadonlyMap<string, Change>,
): Generator<undefined, ReadonlyMap<Change, readonly Change[]>> {
  const before = new Map<Change, Change[]>();
  const add = (change: Change, predecessor: Change | undefined) => {
    if (predecessor === undefined || predecessor === change) return;
    const list = before.get(change);
    if (list === undefined) before.set(change, [predecessor]);
    else list.push(predecessor);
  };
  for (const [at, change] of changes.entries()) {
    if (isTurn(at)) yield undefined;
    if (change.after !== undefined && created.size > 0) {
      // What is created now can only be a member from now on.
      const { come } = movedReferences(registry, change.before, change.after);
      for (const { to } of [...facetsOf(registry, change.after).links, ...come]) add(change, created.get(to));
    }
    if (change.before !== undefined && deleted.size > 0) {
      for (const { to } of facetsOf(registry, change.before).references) {
        const gone = deleted.get(to);
        if (gone !== undefined) add(gone, change);
      }
    }
  }
  return before;
}

/** By action, kind, key or name, and id. */
function compareChanges(a: Change, b: Change): number {
  const left = subjectOf(a);
  const right = subjectOf(b);
  return (
    rank[a.action] - rank[b.action] ||
    compare(left.kind, right.kind) ||
    compare(left.key ?? left.name, right.key ?? right.name) ||
    compare(left.id, right.id)
  );
}

function cycleProblem(cycle: readonly Change[]): Problem {
  const names = cycle.map((change) => `${subjectOf(change).kind} ${subjectOf(change).key ?? subjectOf(change).name}`);
  return {
    code: 'reference_cycle',
    message: `these objects refer to each other in a circle: ${names.join(' → ')}; break the circle by removing one of the references`,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
