import { describe, expect, it } from 'vitest';
import { domain } from '../../src/kinds/shared/formats.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { readBody } from '../../src/model/operation/body.ts';
import { maxProblems } from '../../src/model/problem.ts';
import { integer, list, mapOf, object, refMap, refs, setOf, string } from '../../src/model/schema/field.ts';
import { brokenRules } from '../../src/model/schema/member-rules.ts';
import { normalizeStated } from '../../src/model/schema/normalize.ts';
import { createStoredValues } from '../../src/model/schema/validation/stored-values.ts';
import { createChecker, createValidator } from '../../src/model/schema/validation/validate.ts';

const range = { start: integer({ doc: '', required: true }), end: integer({ doc: '', required: true }) };
const rising = { rule: 'rising', members: ['start', 'end'], code: 'port_range_invalid', at: 'start' } as const;

const fields = {
  name: string({ doc: '', required: true }),
  words: list(string({ doc: '' }), { doc: '' }),
  few: list(string({ doc: '', maxLength: 3 }), { doc: '', maxItems: 3 }),
  numbers: list(integer({ doc: '', maximum: 9 }), { doc: '' }),
  domains: list(string({ doc: '', format: domain }), { doc: '' }),
  ranges: list(object(range, { doc: '', rules: [rising] }), { doc: '' }),
  map: mapOf(string({ doc: '' }), { doc: '' }),
  small: mapOf(string({ doc: '' }), { doc: '', maxItems: 2 }),
  names: setOf(string({ doc: '', format: domain }), { doc: '', maxItems: 3 }),
  users: refMap('Long', list(string({ doc: '' }), { doc: '', maxItems: 2 }), { doc: '', maxItems: 3 }),
  host: string({ doc: '', format: domain, maxLength: 20 }),
  others: refs('Long', { doc: '' }),
};

declare module '../../src/model/state/stored.ts' {
  interface KindTypes {
    Long: { fields: typeof fields; derived: object };
  }
}

const long = defineKind({
  ...{ name: 'Long', doc: '', module: 'test', document: { allowed: true } },
  spec: fields,
  example: {},
});
const validator = createValidator(createRegistry([long]));
const check = (spec: JsonObject, stored?: JsonObject, most?: number) =>
  validator.check('Long', 'request', { name: 'a', ...spec }, createStoredValues(stored), most);

const repeat = <Value extends Json>(value: Value, count = 100_000): readonly Value[] => Array(count).fill(value);
const members = (value: Json, count = 100_000) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, value]));

describe('validation of an input with a hundred thousand faults', () => {
  it.each<[string, JsonObject, string]>([
    ['entries of a wrong type', { words: repeat(1) }, 'type_wrong'],
    ['entries out of range', { numbers: repeat(10) }, 'value_out_of_range'],
    ['entries without members', { ranges: repeat({}) }, 'field_required'],
    ['members of a wrong type', { map: members(1) }, 'type_wrong'],
    ['unknown members', members(1), 'field_unknown'],
    ['unknown members of entries', { ranges: repeat({ start: 1, end: 2, ned: 3 }) }, 'field_unknown'],
  ])('reports one fault more than an answer lists, for %s', (_, spec, code) => {
    const faults = check(spec);
    expect([faults.length, new Set(faults.map((fault) => fault.code))]).toEqual([maxProblems + 1, new Set([code])]);
  });

  it('reports hundreds of faults completely, with their paths', () => {
    const faults = check({ words: repeat(1, 400), ranges: repeat({}, 200) });
    const paths = [...Array(400).keys()].map((at) => `/words/${at}`);
    expect(faults.filter(({ path }) => path.startsWith('/words')).map(({ path }) => path)).toEqual(paths);
    expect(faults).toHaveLength(800);
  });

  it('stops after as many faults as the caller asks for', () => {
    expect(check({ words: repeat(1) }, undefined, 1)).toHaveLength(1);
  });

  it('is bounded for bodies of operations and for other schemas too', () => {
    expect(readBody({ words: fields.words }, { words: repeat(1) }, { strict: true }).faults).toHaveLength(
      maxProblems + 1,
    );
    const checker = createChecker({ type: 'array', items: { type: 'string' } });
    expect(checker(repeat(1))).toHaveLength(maxProblems + 1);
    expect(checker(repeat('a'))).toEqual([]);
  });

  it('tries every branch of `anyOf` completely', () => {
    const branch = (type: string) => ({ type: 'array', items: { type } });
    const checker = createChecker({ anyOf: [branch('string'), branch('number')] });
    expect(checker([...repeat('a', 3000), 1])).not.toEqual([]);
    expect(checker(repeat(1))).toEqual([]);
  });

  it('is bounded for formats and for rules of members', () => {
    expect(normalizeStated(fields, { domains: repeat('a b') }).faults).toHaveLength(maxProblems + 1);
    expect(brokenRules(fields, [], { ranges: repeat({ start: 2, end: 1 }) })).toHaveLength(maxProblems + 1);
  });
});

describe('a list or map with too many entries', () => {
  it.each<[string, JsonObject, string, string]>([
    ['list', { few: repeat(1) }, 'list_too_long', '`few` must have at most 3 entries'],
    ['map', { small: members(1) }, 'object_too_large', '`small` must have at most 2 members'],
  ])('is refused as a %s without faults of its entries', (_, spec, code, message) => {
    expect(check(spec)).toMatchObject([{ code, message }]);
  });

  it('is accepted when as many are stored, and its entries are still validated', () => {
    const stored = { few: ['a', 'b', 'c', 'd'] };
    expect(check({ few: ['a', 'b', 'c', 'e'] }, stored)).toEqual([]);
    expect(check({ few: ['a', 'b', 'c', 1] }, stored)).toMatchObject([{ code: 'type_wrong', path: '/few/3' }]);
    expect(check({ few: ['a', 'b', 'c', 'd', 'e'] }, stored)).toMatchObject([{ code: 'list_too_long' }]);
    expect(check({ small: { a: '1', b: '1', c: 1 } }, { small: { a: '', b: '', c: '' } })).toMatchObject([
      { code: 'type_wrong', path: '/small/c' },
    ]);
  });

  it('is accepted when more are stored, although there are still too many', () => {
    expect(check({ few: ['a', 'b', 'c', 'd'] }, { few: ['a', 'b', 'c', 'd', 'e'] })).toEqual([]);
    expect(check({ small: members('1', 4) }, { small: members('1', 5) })).toEqual([]);
    expect(check({ few: ['a', 'b', 'c', 'd'] }, { words: ['a', 'b', 'c', 'd'] })).toMatchObject([
      { code: 'list_too_long', path: '/few' },
    ]);
  });

  it('is accepted in a map of references when as many are stored under the id of the same object', () => {
    const stored = { users: { id1: ['a', 'b', 'c'], id2: ['a'] } };
    expect(check({ users: { name1: ['a', 'b', 'd'] } }, stored)).toEqual([]);
    expect(check({ users: { name1: ['a', 'b', 'c', 'd'] } }, stored)).toMatchObject([{ path: '/users/name1' }]);
    expect(check({ users: members(['a'], 4) }, stored)).toMatchObject([{ code: 'object_too_large', path: '/users' }]);
  });
});

describe('a text that is longer than its limit', () => {
  const text = 'not a domain '.repeat(30);

  it('is accepted only as the value of the field in which it is stored', () => {
    const stored = { name: text, few: ['abcd'] };
    expect(check({ few: ['x', 'abcd'] }, stored)).toEqual([]);
    expect(check({ host: text }, stored)).toMatchObject([{ code: 'value_too_long', path: '/host' }]);
    expect(check({ host: text }, { host: text })).toEqual([]);
  });
});

describe('a set', () => {
  it('has as many entries as without repeats and other spellings of the same entry', () => {
    expect(check({ names: ['a.de', 'A.de', 'b.de', 'a.de', 'c.de'] })).toEqual([]);
    expect(check({ names: ['a.de', 'b.de', 'c.de', 'd.de'] })).toMatchObject([{ code: 'list_too_long' }]);
    expect(check({ names: ['a.de', 'b.de', 'b.de', 1] })).toMatchObject([{ code: 'type_wrong', path: '/names/3' }]);
    expect(check({ others: repeat('x', 10_001) })).toEqual([]);
  });

  it('is refused without reading its entries when it has more than 10,000 entries too many', () => {
    expect(check({ names: repeat('a.de', 10_003) })).toEqual([]);
    expect(check({ names: repeat('a.de', 10_004) })).toMatchObject([{ code: 'list_too_long', path: '/names' }]);
    const spellings = Array.from(
      { length: 40_000 },
      (_, at) => `${'a'.repeat(at % 50)}${'A'.repeat(50 - (at % 50))}.de`,
    );
    expect(check({ names: spellings })).toMatchObject([{ code: 'list_too_long', path: '/names' }]);
  });

  it('is the only list whose repeats do not count', () => {
    expect(check({ few: ['a', 'a', 'a', 'a'] })).toMatchObject([{ code: 'list_too_long' }]);
  });
});

it('values that are stored already hide no fault behind them', () => {
  const numbers = repeat(99, 5000);
  expect(check({ numbers }, { numbers })).toEqual([]);
  expect(check({ numbers: [...numbers, 'a'] }, { numbers })).toMatchObject([{ path: '/numbers/5000' }]);
});
