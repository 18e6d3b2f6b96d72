import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { port } from '../../src/kinds/shared/formats.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { activities } from '../../src/model/declare/activities.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { lowerToCrd } from '../../src/model/lower/crd/crd.ts';
import { pluralOf } from '../../src/model/lower/crd/names.ts';
import {
  type AnyField,
  boolean,
  type Fields,
  integer,
  keyed,
  list,
  object,
  oneOf,
  optionalString,
  refs,
  setOf,
  string,
} from '../../src/model/schema/field.ts';
import type { Format } from '../../src/model/schema/format.ts';
import { canonicalSpec } from '../../src/model/schema/normalize.ts';
import { documentKinds, registry } from './product.ts';
import { structuralFaults } from './structural.ts';

const schemaOf = (crd: JsonObject) => at(crd, 'spec', 'versions', '0', 'schema', 'openAPIV3Schema') as JsonObject;

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name], value);
}

describe.each(documentKinds.map((kind) => [kind.name, kind] as const))('the CRD of %s', (name, kind) => {
  const crd = lowerToCrd(registry, kind);

  test('has a structural schema', () => {
    expect(structuralFaults(schemaOf(crd))).toEqual([]);
  });

  test('is named by its plural', () => {
    const plural = pluralOf(name);
    expect(crd).toMatchObject({
      metadata: { name: `${plural}.heddle.dev` },
      spec: { group: 'heddle.dev', names: { plural, kind: name }, scope: 'Namespaced' },
    });
  });

  test('has a status subresource', () => {
    expect(at(crd, 'spec', 'versions', '0', 'subresources')).toEqual({ status: {} });
    expect(Object.keys(at(schemaOf(crd), 'properties', 'status', 'properties') as object)).toEqual([
      'observedGeneration',
      'id',
      'revision',
      'source',
      'planId',
      'outputSecret',
      'problems',
      'conditions',
    ]);
  });

  test('requires a spec exactly where documents must have one', () => {
    const spec = at(schemaOf(crd), 'properties', 'spec') as JsonObject;
    expect(schemaOf(crd)['required']).toEqual(spec['required'] === undefined ? undefined : ['spec']);
  });

  test('has columns for readiness, and for `enabled` where the kind has it', () => {
    const columns = at(crd, 'spec', 'versions', '0', 'additionalPrinterColumns') as readonly JsonObject[];
    const shown = columns.filter(({ priority }) => priority === undefined).map((column) => column['name']);
    const enabled = 'enabled' in kind.spec ? ['Enabled'] : [];
    expect(shown).toEqual(['Ready', 'Message', ...enabled, 'Id', 'Age']);
  });

  test('documents every field', () => {
    const fields = at(schemaOf(crd), 'properties', 'spec', 'properties') as Readonly<Record<string, JsonObject>>;
    expect(Object.entries(fields).filter(([, schema]) => typeof schema['description'] !== 'string')).toEqual([]);
  });

  test('equals the generated file in crds/', () => {
    const text = readFileSync(new URL(`../../crds/${pluralOf(name)}.yaml`, import.meta.url), 'utf8');
    expect(text.split('\n', 1)[0]).toMatch(/^# .*npm run gen.*do not edit/);
    expect(parse(text)).toEqual(crd);
  });
});

test('every kind has a unique short name that other programs are unlikely to use', () => {
  const names = documentKinds.flatMap((kind) => at(lowerToCrd(registry, kind), 'spec', 'names', 'shortNames'));
  expect(names.filter((name) => /^h[a-z]+$/.test(String(name)))).toHaveLength(documentKinds.length);
  expect(new Set(names).size).toBe(documentKinds.length);
  const others = documentKinds.flatMap(({ name }) => [pluralOf(name), name.toLowerCase()]);
  expect(names.filter((name) => others.includes(String(name)))).toEqual([]);
});

describe('lowering to a CRD', () => {
  const entry = { name: string({ doc: 'Name.', required: true }), note: string({ doc: 'Note.', default: '' }) };
  const shape = defineKind({
    name: 'Shape',
    doc: 'A kind with every sort of list.',
    module: 'test',
    document: { allowed: true },
    singleton: 'shape',
    spec: {
      atomic: list(string({ doc: 'Word.' }), { doc: 'Ordered.', maxItems: 3 }),
      words: setOf(string({ doc: 'Word.' }), { doc: 'Words.', minItems: 1 }),
      others: refs('Shape', { doc: 'Others.' }),
      sure: keyed(entry, { doc: 'Entries.', key: 'name' }),
      unsure: keyed(entry, { doc: 'Entries.', key: 'note' }),
      part: object({ inner: string({ doc: 'Inner.', minLength: 2, default: 'ab' }) }, { doc: 'Part.' }),
      block: object({ inner: string({ doc: 'Inner.', default: '' }) }, { doc: 'Block.', atomic: true }),
    },
    example: {},
  });
  const hidden = defineKind({ ...shape, name: 'Hidden', document: { allowed: false, why: 'a test' } } as typeof shape);
  const own = createRegistry([shape, hidden]);
  const schema = schemaOf(lowerToCrd(own, shape));
  const fieldAt = (...path: readonly string[]) => at(schema, 'properties', 'spec', 'properties', ...path);

  test.each<[string, JsonObject]>([
    ['atomic', { 'x-kubernetes-list-type': 'atomic', maxItems: 3 }],
    ['words', { 'x-kubernetes-list-type': 'set', minItems: 1 }],
    ['others', { 'x-kubernetes-list-type': 'set', description: 'Others. Refers to Shape.' }],
    ['sure', { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }],
    ['unsure', { 'x-kubernetes-list-type': 'atomic' }],
  ])('gives each list the merge type that it has in documents: %s', (name, expected) => {
    expect(fieldAt(name)).toMatchObject(expected);
  });

  test('makes an object that is one unit atomic in Kubernetes too', () => {
    expect(fieldAt('block')).toMatchObject({ type: 'object', 'x-kubernetes-map-type': 'atomic' });
    expect(fieldAt('part')).not.toHaveProperty('x-kubernetes-map-type');
  });

  test('keeps limits, but mentions defaults only in descriptions, since real defaults would appear as stated', () => {
    expect(fieldAt('part', 'properties', 'inner')).toEqual({
      type: 'string',
      minLength: 2,
      maxLength: 4096,
      description: 'Inner. Default: "ab".',
    });
    expect(structuralFaults(schema)).toEqual([]);
  });

  test('makes the spec optional where no field is required', () => {
    expect(schema).not.toHaveProperty('required');
  });

  test('allows only the fixed name for a singleton kind', () => {
    expect(at(schema, 'properties', 'metadata', 'properties', 'name')).toEqual({ type: 'string', enum: ['shape'] });
  });

  test('refuses a kind without documents', () => {
    expect(() => lowerToCrd(own, hidden)).toThrow('Hidden has no documents: a test');
  });

  test.each([
    ['Policy', 'policies'],
    ['SetupKey', 'setupkeys'],
    ['DNSZone', 'dnszones'],
    ['Account', 'accounts'],
  ])('the plural of %s is %s', (name, plural) => {
    expect(pluralOf(name)).toBe(plural);
  });
});

describe('the validation expressions in a CRD', () => {
  const span = {
    first: integer({ doc: 'First.', default: 5 }),
    last: integer({ doc: 'Last.', required: true }),
  };
  const rising = { rule: 'rising', members: ['first', 'last'], code: 'port_range_invalid', at: '' } as const;
  const either = { rule: 'exactlyOne', members: ['one', 'other'], code: 'router_exclusive', at: 'other' } as const;
  const pair = {
    one: optionalString({ doc: 'One.', format: port }),
    other: refs('Shape', { doc: 'Other.' }),
    on: boolean({ doc: 'Switch.', default: true }),
  };
  const shape = defineKind({
    name: 'Shape',
    doc: 'A kind with rules.',
    module: 'test',
    document: { allowed: true },
    spec: {
      ...pair,
      mode: oneOf(['a', 'b'], { doc: 'Mode.', default: 'a', access: 'createOnly' }),
      size: integer({ doc: 'Size.', required: true, access: 'createOnly' }),
      spans: list(object(span, { doc: 'Span.', rules: [rising] }), { doc: 'Spans.' }),
      entries: keyed(
        { name: string({ doc: 'Name.', required: true, format: port }), ...pair },
        { doc: 'Entries.', key: 'name', rules: [either] },
      ),
      small: list(object(pair, { doc: 'Pair.', rules: [either] }), { doc: 'Pairs.' }),
    },
    rules: [
      either,
      { rule: 'atLeastOne', members: ['one', 'other'], code: 'process_without_path', at: '' },
      { rule: 'atMostOne', members: ['one', 'on'], code: 'router_exclusive', at: 'on' },
      { rule: 'onlyWhere', members: ['one'], where: 'mode', is: ['b'], code: 'policy_ports_unused', at: 'one' },
    ],
    example: { size: 1 },
  });
  const schema = schemaOf(lowerToCrd(createRegistry([shape]), shape));
  const specAt = (...path: readonly string[]) => at(schema, 'properties', 'spec', ...path);
  const rulesAt = (...path: readonly string[]) =>
    (specAt(...path, 'x-kubernetes-validations') as readonly JsonObject[]).map(({ rule }) => rule);

  test('refuse only what is invalid within one source, and accept that other sources state the rest', () => {
    expect(rulesAt()).toEqual([
      '!((has(self.one) && size(self.one) > 0) && (has(self.other) && size(self.other) > 0))',
      '!((has(self.one) && size(self.one) > 0) && (!has(self.on) || self.on))',
      '!(has(self.one) && size(self.one) > 0) || !has(self.mode) || (has(self.mode) ? self.mode : "a") in ["b"]',
      '(has(self.mode) ? self.mode : "a") == (has(oldSelf.mode) ? oldSelf.mode : "a")',
      'has(self.size) == has(oldSelf.size) && (!has(self.size) || self.size == oldSelf.size)',
    ]);
  });

  test('also refuse missing members in an entry of a list, which is stated as a whole', () => {
    const [rule] = rulesAt('properties', 'entries', 'items');
    expect(rule).toBe('(has(self.one) && size(self.one) > 0) != (has(self.other) && size(self.other) > 0)');
    expect(specAt('properties', 'entries', 'items', 'x-kubernetes-validations', '0')).toMatchObject({
      message: 'give either `one` or `other`',
      fieldPath: '.other',
    });
    expect(rulesAt('properties', 'spans', 'items')).toEqual(['(has(self.first) ? self.first : 5) <= self.last']);
  });

  test('limit lists to 10,000 items where entries have no required members, to bound the cost', () => {
    expect(specAt('properties', 'small', 'maxItems')).toBe(10_000);
    expect(specAt('properties', 'spans')).not.toHaveProperty('maxItems');
  });

  test('are combined with format patterns, which accept an empty text unless the field is required', () => {
    expect(specAt('properties', 'one', 'pattern')).toBe('^(?:[1-9][0-9]{0,4})?$');
    expect(specAt('properties', 'entries', 'items', 'properties', 'name', 'pattern')).toBe('^(?:[1-9][0-9]{0,4})$');
  });

  test('are checked in documents with a message that names the entry', () => {
    const { spec } = canonicalSpec(shape, {
      size: 1,
      other: ['x'],
      on: false,
      entries: [{ name: '1' }],
      spans: [{ last: 1 }],
    });
    expect(shape.check?.(spec)).toEqual([
      { code: 'port_range_invalid', path: '/spans/0', message: '`first` must not be above `last`; swap them' },
      {
        code: 'router_exclusive',
        path: '/entries/0',
        message: '`1`: `one` and `other` are both missing; give one of them',
      },
    ]);
  });

  test('need a required spec where a field is written at creation only, since a removed spec is compared with nothing', () => {
    const loose = defineKind({ ...shape, spec: { mode: shape.spec['mode'] }, rules: [] } as unknown as typeof shape);
    expect(() => lowerToCrd(createRegistry([loose]), loose)).toThrow('make a field required');
  });
});

test('the pattern of a format matches every text that the format accepts', () => {
  const formats = documentKinds.flatMap(({ spec }) => formatsIn(spec));
  expect(formats.length).toBeGreaterThan(15);
  const texts = [
    ...['', '0', '53', '65535', '443-450', '10.20.0.1', 'fd00::1', '::ffff:10.0.0.1', '10.20.0.0/16', '2001:DB8::/48'],
    ...['example.com', 'EXAMPLE.com.', '*.bücher.example', '_sip._tcp.example.com', 'xn--bcher-kva.example', 'a_b'],
    ...[
      '例え.テスト',
      'de',
      'DE',
      'v1.4.2-rc1+build',
      '14.6',
      'https://hooks.example.com/a?b=c#d',
      'HTTP://[fd00::1]:8080',
    ],
    ...['ana@example.com', ' ana+b@exämple.com ', '30s', '1h30m', '1.5h', '500ms', '/', '/api/ü', 'App.Example.com'],
    ...Object.keys(activities),
  ];
  const missed = formats.flatMap(({ name, pattern, canonical }) =>
    texts.flatMap((text) => {
      const result = canonical(text);
      if (pattern === undefined || !('value' in result)) return [];
      const expression = new RegExp(`^(?:${pattern})$`, 'u');
      return [text, result.value].filter((said) => !expression.test(said)).map((said) => `${name}: ${said}`);
    }),
  );
  expect(missed).toEqual([]);
});

function formatsIn(fields: Fields): readonly Format[] {
  return Object.values(fields).flatMap((field) => formatsOf(field));
}

function formatsOf(field: AnyField): readonly Format[] {
  if (field.type === 'string') return field.format === undefined ? [] : [field.format];
  if (field.type === 'object' || field.type === 'keyed') return formatsIn(field.fields);
  return field.type === 'list' ? formatsOf(field.of) : [];
}

describe('the check for structural schemas', () => {
  test.each<[string, JsonObject]>([
    ['a type is missing', {}],
    ['$ref is forbidden', { type: 'object', $ref: '#/x' }],
    [
      'properties beside additionalProperties',
      { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
    ],
    ['additionalProperties is no schema', { type: 'object', additionalProperties: false }],
    ['a list without items', { type: 'array', 'x-kubernetes-list-type': 'set' }],
    ['a set of what is no scalar', { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' }],
    [
      'the map key a is no scalar',
      {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
    ],
    [
      'the map key a may be absent',
      {
        type: 'array',
        items: { type: 'object', properties: { a: { type: 'string' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
    ],
    ['a is required and not declared', { type: 'object', required: ['a'] }],
  ])('finds: %s', (fault, schema) => {
    expect(structuralFaults({ type: 'object', properties: { here: schema } })).toEqual([`/here: ${fault}`]);
  });
});
