import { expect } from 'vitest';
import { type ChangeRow, changeRows, replay } from '../../src/db/commit/history.ts';
import { equalJson, type Json } from '../../src/lib/json.ts';
import { facetsOf } from '../../src/model/state/facets.ts';
import { completeSpec, imageOf, membersIn } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { applyUnits, unitsOf } from '../../src/model/state/units.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { now } from './steps.ts';

/** Checks the invariants of every account state. */
export function checkState(state: Snapshot): void {
  const held = new Set<string>();
  for (const object of state.objects()) {
    const { references, keys } = facetsOf(state.registry, object);
    for (const { field, to } of references)
      expect(state.get(to), `${object.kind} ${object.name} ${field} → ${to}`).toBeDefined();
    for (const { rule, value } of keys) {
      expect(held.has(`${object.kind}/${rule}/${value}`), `${object.kind} ${rule} ${value} is held twice`).toBe(false);
      held.add(`${object.kind}/${rule}/${value}`);
    }
    checkDeclared(state, object);
    checkOrigins(object);
  }
  checkIndexes(state);
}

/** Checks that the values that sources state are in effect. */
function checkDeclared(state: Snapshot, object: StoredObject): void {
  const fields = state.registry.get(object.kind).spec;
  const units = unitsOf(fields, completeSpec(object));
  for (const { source, stated } of object.declared) {
    for (const [path, value] of unitsOf(fields, stated)) {
      const effective = units.get(path);
      const holds =
        Array.isArray(effective) && value === true ? effective.includes('source') : equalJson(effective, value);
      expect(
        holds,
        `${object.kind} ${object.key} ${path}: ${source} states ${JSON.stringify(value)}, it is ${JSON.stringify(effective)}`,
      ).toBe(true);
    }
  }
  if (object.owner !== undefined) expect(object.declared.map(({ source }) => source)).toContain(object.owner);
}

/** Checks that every member has at least one origin, and that its origins are sorted and unique. */
function checkOrigins(object: StoredObject): void {
  for (const [, origins] of membersIn(object, 'peers')) {
    expect(origins.length).toBeGreaterThan(0);
    expect([...new Set(origins)].sort()).toEqual(origins);
  }
}

/** Checks that the incrementally updated indexes equal the indexes of a new snapshot. */
function checkIndexes(state: Snapshot): void {
  const rebuilt = emptySnapshot(state.registry, state.account).with({ put: [...state.objects()], remove: [] });
  expect(indexesOf(state)).toEqual(indexesOf(rebuilt));
}

function indexesOf(state: Snapshot): unknown {
  const ids = (objects: readonly StoredObject[]) => objects.map(({ id }) => id);
  const kinds = state.registry.names.map((name) => [name, state.countOf(name), ids(state.ofKind(name))]);
  const sources = [...state.sources()].sort().map((source) => [source, ids(state.declaredBy(source))]);
  const each = [...state.objects()]
    .map((object) => {
      const { keys, indexes } = facetsOf(state.registry, object);
      const referrers = state
        .referrersOf(object.id)
        .map(({ from, field }) => `${from.id} ${field} ${state.countReferrers(object.id, from.kind, field)}`);
      return [
        object.id,
        referrers.sort(),
        keys.map(({ rule, value }) => state.findByUnique(object.kind, rule, value)?.id),
        indexes.map(({ index, value }) => ids(state.lookUp(object.kind, index, value))),
        ids(state.childrenOf(object.id, 'DNSRecord')),
      ] as const;
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { size: state.size, kinds, sources, each };
}

/**
 * Checks that the plan describes what happens: its units lead from `before` to `after` of each object, and its history
 * rows lead from one state to the other.
 */
export function checkPlan(plan: Plan, before: Snapshot, next: Snapshot): void {
  for (const change of [...plan.changes, ...plan.claims]) {
    if (change.before === undefined || change.after === undefined) continue;
    const fields = before.registry.get(change.after.kind).spec;
    expect(completeSpec(applyUnits(fields, change.before, change.units))).toEqual(completeSpec(change.after));
  }
  const rows = changeRows({
    revision: next.revision,
    plan,
    actor: { type: 'system', id: 'sys', name: 'system' },
    requestId: 'r',
    at: now,
    events: [],
  });
  const read = JSON.parse(JSON.stringify(rows)) as readonly ChangeRow[];
  expect(objectsOf(replay(before, read, next.revision))).toEqual(objectsOf(next));
}

/** Returns the objects of a state by id, as plain data. */
export function objectsOf(state: Snapshot): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    [...state.objects()]
      .map((object) => [object.id, JSON.parse(JSON.stringify(imageOf(object))) as Json])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}
