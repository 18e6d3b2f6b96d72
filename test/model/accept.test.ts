import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as kinds from '../../src/kinds/index.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { type Surface, specSchema } from '../../src/model/lower/shape.ts';
import { accepts, createAcceptor } from '../../src/model/schema/validation/accept.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';

const registry = createRegistry(Object.values(kinds));
const validator = createValidator(registry);
const surfaces: readonly Surface[] = ['document', 'request', 'replace'];

describe.each(registry.kinds.map((kind) => [kind.name, kind] as const))('%s', (name, kind) => {
  test('accepts its example in documents', () => {
    const acceptor = createAcceptor(registry);
    expect(acceptor.validator.check(name, 'document', kind.example as JsonObject)).toEqual([]);
    expect(acceptor.hasRefused()).toBe(false);
  });

  test('accepts exactly the specs that the compiled schemas accept', () => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(fc.constantFrom(...surfaces), mutated(kind.example as JsonObject), (surface, spec) => {
        const acceptor = createAcceptor(registry);
        acceptor.validator.check(name, surface, spec);
        const isSound = validator.check(name, surface, spec).length === 0;
        verdicts.add(isSound);
        expect(acceptor.hasRefused()).toBe(!isSound);
      }),
      { numRuns: 150 },
    );
    expect(verdicts).toContain(false);
  });
});

test.each([
  [{ type: 'string', maxLength: 2 }, '\u{1f600}\u{1f600}', true],
  [{ type: 'string', maxLength: 2 }, '\u{1f600}\u{1f600}x', false],
  [{ type: 'integer' }, 1.5, false],
  [{ type: ['string', 'null'] }, null, true],
  [{ type: 'array', minItems: 2, items: { type: 'boolean' } }, [true], false],
  [{ type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } }, { a: 'x', b: 'y' }, false],
  [{ type: 'string', pattern: '^a' }, 'a', false],
] as const)(
  'the schema %j accepts the value %j: %s; a schema with an unknown keyword accepts nothing',
  (schema, value, accepted) => {
    expect(accepts(schema as Json, value as Json)).toBe(accepted);
  },
);

test('the acceptor supports every keyword in the schemas of kinds', () => {
  const values: Readonly<Record<string, Json>> = { object: {}, array: [], string: 'x', integer: 1, boolean: true };
  const unknown = new Set<string>();
  const look = (schema: Json): void => {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
    for (const [word, limit] of Object.entries(schema)) {
      if (word === 'properties') for (const member of Object.values(limit as JsonObject)) look(member);
      else if (word === 'items' || word === 'additionalProperties') look(limit);
      // No keyword except `type` and `enum` restricts values of all types.
      else if (word !== 'type' && word !== 'enum')
        if (!Object.values(values).some((value) => accepts({ [word]: limit }, value))) unknown.add(word);
    }
  };
  for (const kind of registry.kinds) for (const surface of surfaces) look(specSchema(registry, kind, surface));
  expect([...unknown]).toEqual([]);
});

/** Generates the value with up to two changes: a member or element replaced, dropped or added. */
function mutated(value: JsonObject): fc.Arbitrary<JsonObject> {
  const other = fc.oneof(
    fc.constantFrom<Json>(null, true, '', 'x'.repeat(300), -1, 2 ** 40, 0.5, [], {}, [1], { x: 1 }),
    fc.string(),
    fc.integer(),
  );
  const change = fc.record({ random: fc.nat(), value: other, how: fc.constantFrom('put', 'drop', 'add') });
  return fc.array(change, { maxLength: 2 }).map((changes) => changes.reduce(changed, value));
}

interface Change {
  readonly random: number;
  readonly value: Json;
  readonly how: string;
}

function changed(value: JsonObject, { random, value: put, how }: Change): JsonObject {
  const copy = structuredClone(value) as Record<string, Json>;
  const holders: (Record<string, Json> | Json[])[] = [];
  const look = (held: Json): void => {
    if (typeof held !== 'object' || held === null) return;
    holders.push(held as Record<string, Json> | Json[]);
    for (const inner of Object.values(held)) look(inner as Json);
  };
  look(copy);
  const holder = holders[random % holders.length] as Record<string, Json>;
  const names = Object.keys(holder);
  const name = names[random % Math.max(1, names.length)];
  if (Array.isArray(holder)) holder.push(put);
  else if (how === 'add' || name === undefined) holder['another'] = put;
  else if (how === 'drop') delete holder[name];
  else holder[name] = put;
  return copy;
}
