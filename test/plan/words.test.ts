import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { emptyEnvironment } from '../../src/model/declare/plan-environment.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import { mapOf, members, oneOf, refs, string } from '../../src/model/schema/field.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import { emptySnapshot, type Snapshot } from '../../src/model/state/snapshot.ts';
import { planRenewal } from '../../src/plan/requests/renew.ts';
import { planCreate, planReplace, type RequestContext, type RequestOutcome } from '../../src/plan/requests/requests.ts';

const box = defineKind({
  name: 'Box',
  doc: 'A box.',
  path: '/boxes',
  module: 'test',
  document: { allowed: true },
  spec: {
    name: string({ doc: 'Name.', required: true }),
    shape: oneOf(['round', 'flat'], { doc: 'Shape.', required: true, access: 'createOnly', echoed: true }),
    config: mapOf(string({ doc: 'Value.' }), { doc: 'Config.', required: true, merge: true }),
    inside: refs('Bag', { doc: 'Inside.', answer: 'full' }),
  },
  generate: (_, { random }) => ({ derived: { hash: 'kept' }, outputs: { key: `key-${random(1)[0]}` } }),
  example: {},
});
const bag = defineKind({
  name: 'Bag',
  doc: 'A bag.',
  module: 'test',
  document: { allowed: true },
  spec: { name: string({ doc: 'Name.', required: true }), bags: members('Bag', { doc: 'Bags.' }) },
  example: {},
});
const registry = createRegistry([box, bag]);
const validator = createValidator(registry);

let count = 0;
const newId = () => {
  count += 1;
  return `new-${count}`;
};

let random = 0;
function contextOn(snapshot: Snapshot): RequestContext {
  random += 1;
  const planEnvironment = { ...emptyEnvironment, random: () => new Uint8Array([random]) };
  const actor = { type: 'user', id: 'ana', name: 'Ana', granted: 'owner' } as const;
  return { snapshot, validator, strict: true, now: '2026-01-02T03:04:05Z', newId, planEnvironment, actor };
}

function done(outcome: RequestOutcome): Snapshot {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  return outcome.next;
}

const body = (more: JsonObject = {}): JsonObject => ({
  name: 'b',
  shape: 'round',
  config: { a: '1', b: '2' },
  ...more,
});
const made = done(planCreate(contextOn(emptySnapshot(registry, 'acc')), box, body()));
const replace = (more: JsonObject) => planReplace(contextOn(made), box, made.ofKind('Box')[0] as never, body(more));

describe('a map field with `merge`', () => {
  test.each<[JsonObject, JsonObject]>([
    [{}, { a: '1', b: '2' }],
    [{ b: '3' }, { a: '1', b: '3' }],
    [{ c: '4' }, { a: '1', b: '2', c: '4' }],
    [{ a: null }, { b: '2' }],
    [{ nothing: null }, { a: '1', b: '2' }],
  ])('after a replace with %j becomes %j', (config, becomes) => {
    expect(done(replace({ config })).ofKind('Box')[0]?.spec['config']).toEqual(becomes);
  });

  test('refuses null when the object is created', () => {
    const outcome = planCreate(contextOn(emptySnapshot(registry, 'acc')), box, body({ config: { a: null } }));
    expect(outcome.ok ? [] : outcome.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'type_wrong /config/a',
    ]);
  });
});

describe('an echoed create-only field', () => {
  test.each(['round', 'flat', 'anything', 5])('with the value %j in a replace changes nothing', (shape) => {
    const outcome = replace({ shape });
    expect(outcome.ok && outcome.plan.changes).toEqual([]);
  });

  test('is required in a replace', () => {
    const { shape: _, ...rest } = body();
    const outcome = planReplace(contextOn(made), box, made.ofKind('Box')[0] as never, rest);
    expect(outcome.ok ? [] : outcome.problems.map(({ message }) => message)).toEqual(['`shape` is required; add it']);
  });
});

test('the creator of an object is kept by a replace', () => {
  expect(made.ofKind('Box')[0]?.derived).toEqual({ created_by: 'ana', hash: 'kept' });
  const renamed = done(replace({ name: 'c' }));
  expect(renamed.ofKind('Box')[0]?.derived['created_by']).toBe('ana');
});

test('a renewal generates new values and returns them', () => {
  const [before] = made.ofKind('Box');
  const outcome = planRenewal(contextOn(made), box, before as never);
  expect(outcome.ok && outcome.plan.outputs.get(before?.id ?? '')).toEqual({ key: `key-${random}` });
  expect(() => planRenewal(contextOn(made), bag, before as never)).toThrow(
    'the server generates no values for objects of kind ',
  );
});

test('references may be returned as whole objects, and are read as ids when these are sent back', () => {
  const bags = done(planCreate(contextOn(made), bag, { name: 'bag', bags: [] }));
  const [inner] = bags.ofKind('Bag');
  const [outer] = bags.ofKind('Box');
  const next = done(planReplace(contextOn(bags), box, outer as never, body({ inside: [inner?.id ?? ''] })));
  const [filled] = next.ofKind('Box');
  const answer = lowerToResponse(registry, filled as never, next);
  expect(answer['inside']).toEqual([{ id: inner?.id, name: 'bag', bags: [] }]);
  const back = planReplace(contextOn(next), box, filled as never, answer);
  expect(back.ok && back.plan.changes).toEqual([]);
});
