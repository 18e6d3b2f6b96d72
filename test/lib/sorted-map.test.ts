import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptySortedMap, type SortedMap } from '../../src/lib/sorted-map.ts';

const key = (at: number) => `k${String(at).padStart(5, '0')}`;
const mapOf = (entries: Iterable<readonly [string, number]>) => emptySortedMap<number>().with(entries);
const numbered = (count: number) => Array.from({ length: count }, (_, at) => [key(at), at] as const);
const inOrder = (map: ReadonlyMap<string, number>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

describe('a sorted map', () => {
  it('lists its entries in key order', () => {
    const map = mapOf([...numbered(1000)].reverse());
    expect([...map]).toEqual(numbered(1000));
    expect([map.size, map.lastKey, map.keys().length]).toEqual([1000, key(999), 1000]);
    expect([map.get(key(7)), map.get(key(1000)), map.get('')]).toEqual([7, undefined, undefined]);
  });

  it('is empty after every key is removed', () => {
    const map = mapOf(numbered(600)).with(numbered(600).map(([name]) => [name, undefined]));
    expect([map.size, map.lastKey, [...map], map.get(key(1))]).toEqual([0, '', [], undefined]);
    expect([...map.with([['a', 1]])]).toEqual([['a', 1]]);
  });

  it('lists the keys after any key, whether that key is present or not', () => {
    const map = mapOf(numbered(1000).filter((_, at) => at % 2 === 0));
    for (const from of ['', key(0), key(1), key(255), key(256), key(257), key(998), key(999), 'z'])
      expect([...map.keysAfter(from)]).toEqual(map.keys().filter((name) => name > from));
    expect([...emptySortedMap().keysAfter('')]).toEqual([]);
  });

  it('returns the same instance when nothing changes', () => {
    const map = mapOf(numbered(3));
    expect(map.with([])).toBe(map);
  });

  it('lists the changed keys in comparison with an unrelated map', () => {
    expect(mapOf(numbered(3)).changedSince(mapOf([...numbered(2), ['z', 1]]))).toEqual([key(2), 'z']);
    expect(mapOf(numbered(3)).changedSince(mapOf(numbered(3)))).toEqual([]);
  });

  it('equals a plain map after any changes, and lists the changed keys between any two versions', () => {
    const change = fc.tuple(fc.nat({ max: 700 }).map(key), fc.option(fc.nat({ max: 3 }), { nil: undefined, freq: 3 }));
    const steps = fc.array(fc.array(change, { maxLength: 300 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.nat({ max: 700 }), steps, fc.nat(), (first, taken, look) => {
        const maps: SortedMap<number>[] = [mapOf(numbered(first))];
        const plain = [new Map<string, number>(numbered(first))];
        for (const changes of taken) {
          maps.push((maps.at(-1) ?? emptySortedMap<number>()).with(changes));
          const next = new Map(plain.at(-1));
          for (const [name, value] of changes) {
            if (value === undefined) next.delete(name);
            else next.set(name, value);
          }
          plain.push(next);
        }
        expect(maps.map((map) => [...map])).toEqual(plain.map(inOrder));
        expect(maps.map(({ size }) => size)).toEqual(plain.map(({ size }) => size));
        const [one, other] = [look % maps.length, (look * 7) % maps.length];
        const [was, is] = [plain[one] ?? new Map(), plain[other] ?? new Map()];
        const changed = [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name));
        expect(maps[other]?.changedSince(maps[one] ?? emptySortedMap())).toEqual(changed.sort());
        expect(numbered(700).map(([name]) => maps[other]?.get(name))).toEqual(
          numbered(700).map(([name]) => is.get(name)),
        );
      }),
    );
  });
});
