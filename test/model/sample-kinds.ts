import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import {
  boolean,
  integer,
  keyed,
  list,
  members,
  object,
  oneOf,
  optionalString,
  ref,
  refMap,
  refs,
  setOf,
  string,
  typedRef,
} from '../../src/model/schema/field.ts';
import type { Format } from '../../src/model/schema/format.ts';

/** Format that permits letters only, and canonicalises them to lower case. */
const letters: Format = {
  name: 'name',
  canonical: (text) => (/^[a-z]+$/i.test(text) ? { value: text.toLowerCase() } : { fault: 'write letters only' }),
};

const stepFields = { at: integer({ doc: 'When.', required: true }), how: string({ doc: 'How.', default: 'softly' }) };
const entryFields = {
  name: string({ doc: 'Name.', required: true, minLength: 1 }),
  on: boolean({ doc: 'On.', default: true }),
  tags: setOf(string({ doc: 'Tag.', format: letters }), { doc: 'Tags.' }),
  helpers: refs('Person', { doc: 'Helpers.', foreignNames: ['assistants'] }),
};
const innerFields = {
  depth: integer({ doc: 'Depth.', default: 3 }),
  words: setOf(string({ doc: 'Word.' }), { doc: 'Words.' }),
};

/** Sample kind with a field of every type. */
export const thing = defineKind({
  name: 'Thing',
  doc: 'A thing.',
  module: 'test',
  document: { allowed: true },
  spec: {
    name: string({ doc: 'Name.', required: true, minLength: 2, maxLength: 8, foreignNames: ['title'] }),
    note: string({ doc: 'Note.', default: '' }),
    size: integer({ doc: 'Size.', required: true, documentDefault: 1, minimum: 1, maximum: 9 }),
    on: boolean({ doc: 'On.', default: true }),
    colour: oneOf(['red', 'green'], { doc: 'Colour.', default: 'red' }),
    code: optionalString({ doc: 'Code.', format: letters }),
    words: setOf(string({ doc: 'Word.', format: letters }), { doc: 'Words.', maxItems: 12 }),
    numbers: setOf(integer({ doc: 'Number.' }), { doc: 'Numbers.' }),
    steps: list(object(stepFields, { doc: 'Step.' }), { doc: 'Steps.' }),
    entries: keyed(entryFields, { doc: 'Entries.', key: 'name', ids: true, required: true }),
    part: object(
      { x: integer({ doc: 'X.', default: 0 }), inner: object(innerFields, { doc: 'Inner.', default: {} }) },
      { doc: 'Part.', default: {} },
    ),
    extra: object({ level: integer({ doc: 'Level.', default: 1 }) }, { doc: 'Extra.', refusesUnknown: true }),
    owner: ref('Person', { doc: 'Owner.' }),
    friends: refs('Person', { doc: 'Friends.', answer: 'summaries' }),
    crew: members('Person', { doc: 'Crew.' }),
    target: typedRef({ person: 'Person', thing: 'Thing' }, { doc: 'Target.' }),
    rights: refMap('Person', list(string({ doc: 'Right.' }), { doc: 'Rights.' }), { doc: 'Rights.' }),
  },
  indexes: { word: (stored) => (stored.spec['words'] ?? []) as readonly string[] },
  example: {},
});

/** A kind that things refer to. */
const person = defineKind({
  name: 'Person',
  doc: 'A person.',
  module: 'test',
  document: { allowed: true },
  spec: { name: string({ doc: 'Name.', required: true }) },
  uniques: { name: { path: '/name', value: (stored) => stored.name, message: (name) => `${name} is taken` } },
  example: {},
});

/** A kind whose objects are children of a thing. */
const child = defineKind({
  name: 'Child',
  doc: 'A child.',
  module: 'test',
  document: { allowed: true },
  parent: { kind: 'Thing', field: 'thing', inline: 'children' },
  spec: {
    thing: ref('Thing', { doc: 'The thing.', required: true }),
    name: string({ doc: 'Name.', required: true }),
    ttl: integer({ doc: 'Seconds.', required: true, documentDefault: 300 }),
  },
  naturalKey: (spec) => spec.name,
  example: {},
});

/** Registry of the sample kinds. */
export const sampleRegistry = createRegistry([thing, person, child]);

const names = fc.constantFrom('ann', 'bob', 'cid', 'dan');
const words = fc.constantFrom('a', 'B', 'b', 'c', 'a.b', 'x]y', 'web#2', '#');
const maybe = <T extends Json>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });
const entry = fc.record<Record<string, Json>>(
  {
    name: fc.constantFrom('web', 'web#2', 'web!', 'db', 'a.b', 'x[1]'),
    on: maybe(fc.boolean()),
    tags: fc.array(words, { maxLength: 3 }),
    helpers: fc.array(names, { maxLength: 3 }),
  },
  { requiredKeys: ['name'] },
);
const step = fc.record<Record<string, Json>>(
  { at: fc.nat(3), how: fc.constantFrom('loudly', 'softly') },
  { requiredKeys: ['at'] },
);
const part = fc.record<Record<string, Json>>(
  {
    x: fc.nat(2),
    inner: fc.record<Record<string, Json>>(
      { depth: fc.nat(4), words: fc.array(words, { maxLength: 3 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** Generates specs of `thing` in every spelling that validation accepts. */
export const anySpec: fc.Arbitrary<JsonObject> = fc.record<Record<string, Json>>(
  {
    name: names,
    note: maybe(fc.constantFrom('', 'note')),
    size: fc.integer({ min: 1, max: 9 }),
    on: maybe(fc.boolean()),
    colour: fc.constantFrom('red', 'green'),
    code: maybe(fc.constantFrom('', 'ABC', 'abc', '1')),
    words: maybe(fc.array(words)),
    numbers: fc.array(fc.integer({ min: -3, max: 12 })),
    steps: fc.array(step, { maxLength: 3 }),
    entries: fc.array(entry, { maxLength: 5 }),
    part: maybe(part),
    extra: fc.record<Record<string, Json>>({ level: fc.nat(2) }, { requiredKeys: [] }),
    owner: maybe(fc.constantFrom('', 'ann', 'bob')),
    friends: maybe(fc.array(names)),
    crew: fc.oneof(
      fc.array(names),
      fc.dictionary(names, fc.array(fc.constantFrom('api', 'idp'), { minLength: 1, maxLength: 2 })),
    ),
    target: maybe(
      fc.record<Record<string, Json>>({ id: fc.constantFrom('', 'ann'), type: fc.constantFrom('', 'person') }),
    ),
    rights: fc.dictionary(names, fc.array(words, { maxLength: 2 })),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;
