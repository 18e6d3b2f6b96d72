import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mentionsOf } from '../../src/model/schema/references.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import type { SnapshotEdits } from '../../src/model/state/snapshot-tables.ts';
import { sampleRegistry } from './sample-kinds.ts';

const empty = emptySnapshot(sampleRegistry, 'acc');
const keys = ['k1', 'k2', 'k3', 'k4'];
const words = ['red', 'green', 'blue'];
const sources = ['git', 'cli'];
const personIds = ['p1', 'p2', 'p3', 'p4'];
const thingIds = ['t1', 't2', 't3'];
const childIds = ['c1', 'c2', 'c3'];
const ids = [...personIds, ...thingIds, ...childIds];

const some = <T>(values: readonly T[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 });
const perhaps = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

/** Generates the parts that all objects have: a key, an owner, and the declarations of sources. */
const common = fc
  .record({ key: perhaps(keys), owner: perhaps(sources), declared: some(sources) })
  .map(({ key, owner, declared }) => ({
    ...(key === undefined ? {} : { key }),
    ...(owner === undefined ? {} : { owner }),
    declared: declared.map((source) => ({ source, stated: {}, file: 'a.yaml', line: 1 })),
  }));

const aPerson = fc.record({
  id: fc.constantFrom(...personIds),
  name: fc.constantFrom('Ann', 'Bob', 'Cid', ''),
  common,
});
const aThing = fc.record({
  id: fc.constantFrom(...thingIds),
  words: some(words),
  owner: perhaps(personIds),
  friends: some(personIds),
  crew: some(personIds),
  helpers: some(personIds),
  common,
});
const aChild = fc.record({
  id: fc.constantFrom(...childIds),
  parent: fc.constantFrom(...thingIds),
  name: fc.constantFrom('one', 'two'),
  common,
});

const anObject: fc.Arbitrary<StoredObject> = fc.oneof(
  aPerson.map(({ id, name, common: rest }) => stored({ ...rest, id, kind: 'Person', name, spec: { name } })),
  aThing.map(({ id, words: said, owner, friends, crew, helpers, common: rest }) => {
    const entries = [{ name: 'a', on: true, tags: [], helpers }];
    const spec = {
      words: said,
      friends,
      crew: Object.fromEntries(crew.map((person) => [person, ['api', 'idp']])),
      entries,
      ...(owner === undefined ? {} : { owner }),
    };
    return stored({ ...rest, id, kind: 'Thing', name: id, spec });
  }),
  aChild.map(({ id, parent, name, common: rest }) =>
    stored({ ...rest, id, kind: 'Child', name, parent, spec: { thing: parent, name } }),
  ),
);

const anEdit: fc.Arbitrary<SnapshotEdits> = fc.record({
  put: fc.uniqueArray(anObject, { selector: ({ id }) => id, maxLength: 5 }),
  remove: fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 }),
});

function stored(object: Partial<StoredObject> & Pick<StoredObject, 'id' | 'kind' | 'name' | 'spec'>): StoredObject {
  const at = '2026-01-02T03:04:05.000Z';
  return {
    derived: {},
    protected: false,
    createdRevision: 1,
    updatedRevision: 1,
    createdAt: at,
    updatedAt: at,
    declared: [],
    ...object,
  };
}

/**
 * Applies an edit to a plain map. Leaves out puts that would take a unique value from another object, and returns the
 * remaining edit with the new map.
 */
function applyEdit(
  model: ReadonlyMap<string, StoredObject>,
  { put, remove }: SnapshotEdits,
): { readonly edits: SnapshotEdits; readonly model: Map<string, StoredObject> } {
  const next = new Map(model);
  for (const id of [...remove, ...put.map((object) => object.id)]) next.delete(id);
  const kept = put.filter((object) => {
    const clash = [...next.values()].some(
      (other) =>
        other.kind === object.kind &&
        ((other.key !== undefined && other.key === object.key) ||
          (other.kind === 'Person' && other.name === object.name)),
    );
    if (!clash) next.set(object.id, object);
    return !clash;
  });
  const dropped = put.filter((object) => !kept.includes(object)).map((object) => object.id);
  return {
    edits: {
      put: kept,
      remove: [...new Set([...remove, ...dropped])].filter((id) => !next.has(id) || remove.includes(id)),
    },
    model: next,
  };
}

/** Returns the result of every query that a snapshot supports. */
function answers(snapshot: Snapshot) {
  const kinds = ['Person', 'Thing', 'Child'];
  const idsOf = (objects: readonly StoredObject[]) => objects.map(({ id }) => id);
  return {
    size: snapshot.size,
    objects: idsOf([...snapshot.objects()]).sort(),
    found: ids.map((id) => snapshot.get(id)),
    ofKind: kinds.map((kind) => [idsOf(snapshot.ofKind(kind)), snapshot.countOf(kind)]),
    byKey: kinds.flatMap((kind) => keys.map((key) => snapshot.findByKey(kind, key)?.id)),
    holders: ['Ann', 'Bob', 'Cid', ''].map((name) => snapshot.findByUnique('Person', 'name', name)?.id),
    byWord: words.map((word) => idsOf(snapshot.lookUp('Thing', 'word', word))),
    byName: ['Ann', 't1', 'one'].map((name) => kinds.map((kind) => idsOf(snapshot.lookUp(kind, 'name', name)))),
    children: thingIds.map((id) => idsOf(snapshot.childrenOf(id, 'Child'))),
    referrers: ids.map((id) =>
      snapshot
        .referrersOf(id)
        .map(({ from, field }) => `${from.id} ${field}`)
        .sort(),
    ),
    counts: ids.map((id) => fields.map(([kind, field]) => snapshot.countReferrers(id, kind, field))),
    declared: sources.map((source) => idsOf(snapshot.declaredBy(source))),
    sources: [...snapshot.sources()].sort(),
  };
}

const fields = [
  ['Thing', 'owner'],
  ['Thing', 'friends'],
  ['Thing', 'crew'],
  ['Thing', 'entries.helpers'],
  ['Child', 'parent'],
] as const;

const snapshotOf = (objects: Iterable<StoredObject>) => empty.with({ put: [...objects], remove: [] });

describe('a snapshot', () => {
  test('equals one built from scratch after each edit, and leaves the previous one unchanged', () => {
    fc.assert(
      fc.property(fc.array(anEdit, { maxLength: 12 }), (steps) => {
        let snapshot = empty;
        let model = new Map<string, StoredObject>();
        for (const step of steps) {
          const before = snapshot;
          const known = answers(before);
          const next = applyEdit(model, step);
          snapshot = snapshot.with(next.edits, snapshot.revision + 1);
          model = next.model;
          expect(answers(before)).toEqual(known);
          expect(answers(snapshot)).toEqual(answers(snapshotOf(model.values())));
        }
        expect(snapshot.revision).toBe(steps.length);
      }),
    );
  });

  test('gives the same answers as a walk over all objects', () => {
    fc.assert(
      fc.property(anEdit, (step) => {
        const { model } = applyEdit(new Map(), step);
        const snapshot = snapshotOf(model.values());
        const all = [...model.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
        for (const id of ids) {
          const referrers = all.flatMap((from) => {
            const named = mentionsOf(sampleRegistry.get(from.kind).spec, from.spec).filter(
              (mention) => mention.text === id && mention.field !== 'thing',
            );
            const parent = from.parent === id ? ['parent'] : [];
            return [...new Set([...named.map((mention) => mention.field), ...parent])].map(
              (field) => `${from.id} ${field}`,
            );
          });
          expect(
            snapshot
              .referrersOf(id)
              .map(({ from, field }) => `${from.id} ${field}`)
              .sort(),
          ).toEqual(referrers.sort());
          for (const [kind, field] of fields) {
            const count = referrers.filter(
              (text) => text.endsWith(` ${field}`) && model.get(text.split(' ')[0] ?? '')?.kind === kind,
            ).length;
            expect(snapshot.countReferrers(id, kind, field)).toBe(count);
          }
          expect(snapshot.childrenOf(id, 'Child')).toEqual(all.filter(({ parent }) => parent === id));
        }
        for (const source of sources) {
          const declaring = all.filter(
            ({ owner, declared }) => owner === source || declared.some((each) => each.source === source),
          );
          expect(snapshot.declaredBy(source)).toEqual(declaring);
        }
      }),
    );
  });

  test('moves keys and unique values from one object to another in one step', () => {
    const person = (id: string, key: string, name: string) => stored({ id, kind: 'Person', key, name, spec: { name } });
    const before = snapshotOf([person('p1', 'k1', 'Ann'), person('p2', 'k2', 'Bob')]);
    const swapped = before.with({ put: [person('p1', 'k2', 'Bob'), person('p2', 'k1', 'Ann')], remove: [] });
    expect(['k1', 'k2'].map((key) => swapped.findByKey('Person', key)?.id)).toEqual(['p2', 'p1']);
    expect(['Ann', 'Bob'].map((name) => swapped.findByUnique('Person', 'name', name)?.id)).toEqual(['p2', 'p1']);
    const made = before.with({ put: [person('p3', 'k1', 'Ann')], remove: ['p1'] });
    expect(made.findByKey('Person', 'k1')?.id).toBe('p3');
  });

  test('keeps the first holder of a unique value, so that a second one can be refused', () => {
    const both = snapshotOf(
      ['p1', 'p2'].map((id) => stored({ id, kind: 'Person', name: 'Ann', spec: { name: 'Ann' } })),
    );
    expect(both.findByUnique('Person', 'name', 'Ann')?.id).toBe('p1');
  });

  test('keeps no trace of an object that was put again and removed', () => {
    const one = stored({
      id: 't1',
      kind: 'Thing',
      key: 'k1',
      name: 't1',
      owner: 'git',
      spec: { words: ['red'], friends: ['p1'] },
    });
    const gone = snapshotOf([one])
      .with({ put: [one], remove: ['t1'] })
      .with({ put: [], remove: ['t1', 'unknown'] });
    expect(answers(gone)).toEqual(answers(empty));
  });
});
