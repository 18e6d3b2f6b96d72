import { topologicalOrderInSteps } from '../lib/order.ts';
import { shouldYield } from '../lib/steps.ts';
import type { Registry } from '../model/declare/registry.ts';
import type { Problem } from '../model/problem.ts';
import { changedReferences, facetsOf } from '../model/state/facets.ts';
import { type Change, subjectOf } from './plan.ts';

const rank = { create: 0, update: 1, delete: 2 } as const;

/**
 * Sorts changes into an order in which they could be applied one by one: a created object after the created objects it
 * refers to, a deleted object after every change that stops referring to it. Ties are sorted by action, kind and key,
 * never by input order. Returns a problem when created objects refer to each other in a circle. Yields now and then.
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
  const result = yield* topologicalOrderInSteps(changes, (change) => before.get(change) ?? [], compareChanges);
  return result.ok ? { ok: true, changes: result.order } : { ok: false, problems: [cycleProblem(result.cycle)] };
}

type Ordered =
  | { readonly ok: true; readonly changes: readonly Change[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Returns for each change the changes that must precede it. */
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
    if (shouldYield(at)) yield undefined;
    if (change.after !== undefined && created.size > 0) {
      // An object that this plan creates cannot have been a member before, so only added members matter here.
      const { added } = changedReferences(registry, change.before, change.after);
      for (const { to } of [...facetsOf(registry, change.after).links, ...added]) add(change, created.get(to));
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

/** Compares by action, kind, key or name, and id. */
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
