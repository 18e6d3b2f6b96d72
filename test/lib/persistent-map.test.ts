import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emptyMap, type PersistentMap } from '../../src/lib/persistent-map.ts';

/** Pairs of texts with the same hash, found by search, so that they collide at the deepest level of the map. */
const colliding = findCollisions(3);
const keys = fc.oneof(fc.constantFrom('', 'a', 'b', ...colliding.flat()), fc.string({ maxLength: 3 }));
const step = fc.record({ key: keys, value: fc.option(fc.nat(5), { nil: undefined, freq: 3 }) });
type Step = { readonly key: string; readonly value: number | undefined };

const sorted = (entries: Iterable<readonly [string, number]>) => [...entries].sort(([a], [b]) => (a < b ? -1 : 1));

function run(map: PersistentMap<number>, { key, value }: Step): PersistentMap<number> {
  return value === undefined ? map.delete(key) : map.set(key, value);
}

function runModel(model: ReadonlyMap<string, number>, { key, value }: Step): ReadonlyMap<string, number> {
  const next = new Map(model);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}

function expectEqual(map: PersistentMap<number>, model: ReadonlyMap<string, number>): void {
  expect(sorted(map)).toEqual(sorted(model));
  expect(map.size).toBe(model.size);
  expect([...map.keys()].sort()).toEqual([...model.keys()].sort());
  expect([...map.values()].sort()).toEqual([...model.values()].sort());
  for (const [key, value] of model) expect([map.get(key), map.has(key)]).toEqual([value, true]);
}

describe('a persistent map', () => {
  test('starts empty', () => {
    const map = emptyMap<number>();
    expect([map.size, map.get('a'), map.has('a'), [...map]]).toEqual([0, undefined, false, []]);
  });

  test('contains what a Map contains after every step, and leaves older maps unchanged', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let map = emptyMap<number>();
        let model: ReadonlyMap<string, number> = new Map();
        const history: (readonly [PersistentMap<number>, ReadonlyMap<string, number>])[] = [];
        for (const each of steps) {
          map = run(map, each);
          model = runModel(model, each);
          history.push([map, model]);
        }
        for (const [then, expected] of history) expectEqual(then, expected);
      }),
    );
  });

  test('reports the keys in which it differs from an earlier map or from any other', () => {
    fc.assert(
      fc.property(fc.array(step), fc.array(step), fc.array(step), (before, steps, others) => {
        const start = before.reduce(run, emptyMap<number>());
        for (const other of [steps.reduce(run, start), others.reduce(run, emptyMap<number>())]) {
          const keys = new Set([...start.keys(), ...other.keys()]);
          const differing = [...keys].filter((key) => start.get(key) !== other.get(key)).sort();
          expect([...other.changedSince(start)].sort()).toEqual(differing);
          expect([...start.changedSince(other)].sort()).toEqual(differing);
        }
      }),
    );
  });

  test('gives the same result for one edit of many steps as for the steps, and reads its own writes', () => {
    fc.assert(
      fc.property(fc.array(step), fc.array(step), (before, steps) => {
        const start = before.reduce(run, emptyMap<number>());
        const startModel = before.reduce(runModel, new Map() as ReadonlyMap<string, number>);
        let model = startModel;
        const edited = start.edit((draft) => {
          for (const each of steps) {
            if (each.value === undefined) draft.delete(each.key);
            else draft.set(each.key, each.value);
            model = runModel(model, each);
            expect(draft.get(each.key)).toBe(model.get(each.key));
          }
        });
        expectEqual(edited, model);
        expectEqual(start, startModel);
      }),
    );
  });

  test('keeps keys with the same hash apart', () => {
    for (const [first, second] of colliding) {
      const both = emptyMap<number>().set(first, 1).set(second, 2);
      expectEqual(
        both,
        new Map([
          [first, 1],
          [second, 2],
        ]),
      );
      expectEqual(both.delete(first), new Map([[second, 2]]));
      expectEqual(both.delete(first).delete(second), new Map());
      expectEqual(
        both.set(first, 3),
        new Map([
          [first, 3],
          [second, 2],
        ]),
      );
    }
  });

  test('returns the same map for a step that changes nothing', () => {
    const map = emptyMap<number>().set('a', 1);
    expect(map.set('a', 1)).toBe(map);
    expect(map.delete('b')).toBe(map);
    expect(map.edit(() => {})).toBe(map);
    expect(map.delete('a').size).toBe(0);
  });

  test('stores and deletes 50,000 ids', () => {
    const ids = Array.from({ length: 50_000 }, (_, at) => `ch8i4ug6lnn4g9h${at.toString(32).padStart(5, '0')}`);
    const full = emptyMap<number>().edit((draft) => ids.forEach((id, at) => void draft.set(id, at)));
    expect(full.size).toBe(ids.length);
    expect(ids.every((id, at) => full.get(id) === at)).toBe(true);
    const gone = full.edit((draft) => ids.forEach((id) => void draft.delete(id)));
    expect([gone.size, [...gone]]).toEqual([0, []]);
  });
});

/**
 * Searches numbers written as texts for pairs with the same hash. Duplicates the hash function of the map, which is not
 * exported.
 */
function findCollisions(count: number): readonly (readonly [string, string])[] {
  const seen = new Map<number, string>();
  const found: (readonly [string, string])[] = [];
  for (let at = 0; found.length < count; at += 1) {
    const key = at.toString(36);
    const hash = hashOf(key);
    const other = seen.get(hash);
    if (other === undefined) seen.set(hash, key);
    else found.push([other, key]);
  }
  return found;
}

function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
