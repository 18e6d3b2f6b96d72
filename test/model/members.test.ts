import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import {
  beside,
  countMembers,
  hasOrigins,
  movedMembers,
  originsOf,
  withMemberOrigins,
} from '../../src/model/state/members.ts';

const set = (...ids: readonly string[]): JsonObject => ({
  name: 'g',
  peers: Object.fromEntries(ids.map((id) => [id, ['api']])),
});
const isRead = (spec: JsonObject) => Object.getOwnPropertyDescriptor(spec, 'peers')?.get === undefined;

describe('a set that came of another by a step', () => {
  it('has the element, and is copied only when somebody reads it', () => {
    const before = set('a');
    const after = withMemberOrigins(before, 'peers', 'b', ['enrolment']);
    expect([originsOf(after, 'peers', 'b'), countMembers(after, 'peers')]).toEqual([['enrolment'], 2]);
    expect(movedMembers(before, after, 'peers')).toEqual([{ id: 'b', was: [], is: ['enrolment'] }]);
    expect([beside(after, ['peers']), hasOrigins(after, 'peers'), isRead(after)]).toEqual([{ name: 'g' }, true, false]);
    expect(after).toEqual({ name: 'g', peers: { a: ['api'], b: ['enrolment'] } });
    expect([isRead(after), before]).toEqual([true, set('a')]);
  });

  it('keeps its fields in their order, and its elements in that of their ids', () => {
    const after = withMemberOrigins({ peers: { b: ['api'] }, name: 'g' }, 'peers', 'a', ['api']);
    expect(JSON.stringify(after)).toBe('{"peers":{"a":["api"],"b":["api"]},"name":"g"}');
  });

  it('does not know of the steps of another branch', () => {
    const before = set('a');
    const [one, other] = [
      withMemberOrigins(before, 'peers', 'b', ['x']),
      withMemberOrigins(before, 'peers', 'c', ['x']),
    ];
    expect([originsOf(one, 'peers', 'c'), originsOf(other, 'peers', 'b')]).toEqual([[], []]);
    expect(movedMembers(one, other, 'peers').map(({ id }) => id)).toEqual(['b', 'c']);
    expect(movedMembers(before, other, 'peers').map(({ id }) => id)).toEqual(['c']);
    expect([Object.keys(one['peers'] ?? {}), Object.keys(other['peers'] ?? {})]).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
  });

  it('is the same as one that was copied at every step, whatever the steps', () => {
    const id = fc.constantFrom(...'abcdefgh');
    const origins = fc.constantFrom([], ['api'], ['api', 'source'], ['enrolment']);
    const steps = fc.array(fc.tuple(fc.nat(), id, origins), { maxLength: 200 });
    fc.assert(
      fc.property(fc.subarray([...'abcdefgh']), steps, fc.nat(), (first, taken, look) => {
        const lazy = [set(...first)];
        const plain = [set(...first)['peers'] as Readonly<Record<string, readonly string[]>>];
        for (const [from, element, by] of taken) {
          // Most steps go on from the newest, some from an earlier one.
          const at = from % 4 === 0 ? from % lazy.length : lazy.length - 1;
          lazy.push(withMemberOrigins(lazy[at] ?? {}, 'peers', element, by));
          const { [element]: _, ...rest } = plain[at] ?? {};
          plain.push(by.length === 0 ? rest : { ...rest, [element]: by });
        }
        const [one, other] = [look % lazy.length, (look * 7) % lazy.length];
        const moves = movedMembers(lazy[one], lazy[other], 'peers');
        const ids = [...'abcdefgh'].filter((name) => `${plain[one]?.[name]}` !== `${plain[other]?.[name]}`);
        expect(moves.map((move) => move.id)).toEqual(ids);
        for (const move of moves)
          expect([plain[one]?.[move.id] ?? [], plain[other]?.[move.id] ?? []]).toEqual([move.was, move.is]);
        expect(lazy.map((spec) => countMembers(spec, 'peers'))).toEqual(
          plain.map((elements) => Object.keys(elements).length),
        );
        expect(lazy.map((spec) => spec['peers'])).toEqual(plain);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a large set', () => {
  it('is copied once for every so many steps', () => {
    let copies = 0;
    const ids = Array.from({ length: 800 }, (_, at) => `p${at}`);
    const base = new Proxy(set(...ids)['peers'] as JsonObject, {
      ownKeys(target) {
        copies += 1;
        return Reflect.ownKeys(target);
      },
    });
    let spec: JsonObject = { name: 'g', peers: base };
    for (let at = 0; at < 90; at += 1) spec = withMemberOrigins(spec, 'peers', `q${at}`, ['api']);
    // Once for its size.
    expect([copies, countMembers(spec, 'peers')]).toEqual([1, 890]);
    for (let at = 90; at < 200; at += 1) spec = withMemberOrigins(spec, 'peers', `q${at}`, ['api']);
    expect([copies, Object.keys(spec['peers'] ?? {}).length]).toEqual([2, 1000]);
  });
});
