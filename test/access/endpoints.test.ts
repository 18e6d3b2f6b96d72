import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  agreeOnSlots,
  changeEndpoints,
  type EndpointType,
  idsAt,
  noEndpoints,
  reserveSlots,
  slotsOf,
} from '../../src/access/ruleset/endpoints.ts';
import { bitsOf, numbersIn, uniteBits } from '../../src/lib/bits/bit-set.ts';

const names = Array.from({ length: 40 }, (_, at) => `e${(at * 7) % 40}`);
const parts = ['peer', 'resource', 'route'] as const;
const partOf = (id: string): EndpointType => parts[Number(id.slice(1)) % 3] ?? 'peer';
const steps = fc.array(fc.tuple(fc.subarray(names), fc.subarray(names)), { maxLength: 6 });

describe('endpoint slots', () => {
  it('are kept while their endpoints remain, and return ids in order', () => {
    fc.assert(
      fc.property(steps, fc.subarray(names), (changes, asked) => {
        let ends = noEndpoints;
        const there = new Set<string>();
        for (const [leave, join] of changes) {
          const gone = leave.filter((id) => there.has(id));
          const come = join.filter((id) => !there.has(id) && !gone.includes(id));
          const before = ends;
          ends = changeEndpoints(
            ends,
            gone,
            come.map((id) => ({ id, type: partOf(id) })),
          );
          for (const id of gone) there.delete(id);
          for (const id of come) there.add(id);
          expect(agreeOnSlots(before, ends)).toBe(true);
          const all = uniteBits(...parts.map((part) => ends.byType[part]));
          expect(idsAt(ends, all)).toEqual([...there].sort());
          for (const part of parts) {
            expect(idsAt(ends, ends.byType[part])).toEqual([...there].filter((id) => partOf(id) === part).sort());
          }
          for (const count of [1, 2, asked.length]) {
            const some = asked.slice(0, count).filter((id) => there.has(id));
            expect(idsAt(ends, slotsOf(ends, some))).toEqual([...some].sort());
          }
        }
        const kept = changeEndpoints(
          reserveSlots(ends),
          [],
          [...there].reverse().map((id) => ({ id, type: partOf(id) })),
        );
        expect(kept.order).toEqual(ends.order);
        expect(numbersIn(kept.byType.peer)).toEqual(numbersIn(ends.byType.peer));
      }),
    );
  });

  it('do not agree when an endpoint has two slots or two endpoints share one', () => {
    const peers = (...ids: readonly string[]) =>
      changeEndpoints(
        noEndpoints,
        [],
        ids.map((id) => ({ id, type: 'peer' as const })),
      );
    expect(agreeOnSlots(peers('a', 'b'), peers('a', 'b', 'c'))).toBe(true);
    expect(agreeOnSlots(peers('a', 'b'), peers('b', 'a'))).toBe(false);
    expect(agreeOnSlots(peers('a'), peers('b'))).toBe(false);
    expect(agreeOnSlots(peers('a', 'b'), changeEndpoints(peers('a', 'b'), ['a'], []))).toBe(true);
    expect(agreeOnSlots(peers('x', 'a'), changeEndpoints(peers('a', 'x'), ['x'], []))).toBe(false);
    expect(idsAt(peers('b', 'a'), bitsOf([0, 1]))).toEqual(['a', 'b']);
  });
});
