import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { lowerToResponse } from '../../src/model/lower/response.ts';
import { specSchema } from '../../src/model/lower/shape.ts';
import { integer, ref, string } from '../../src/model/schema/field.ts';
import { createValidator } from '../../src/model/schema/validation/validate.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { emptySnapshot } from '../../src/model/state/snapshot.ts';
import { planDelete, planReplace } from '../../src/plan/requests/requests.ts';

const name = string({ doc: 'Name.', required: true });
const shared = { doc: 'A test.', module: 'test', document: { allowed: true }, example: { name: 'x' } } as const;
const child = (kind: string, parent: { readonly inline?: string; readonly holds?: true }) =>
  defineKind({
    ...shared,
    name: kind,
    parent: { kind: 'House', field: 'house', ...parent },
    spec: { house: ref('House', { doc: 'House.', required: true }), name },
    naturalKey: (spec) => spec.name,
  });
const registry = createRegistry([
  defineKind({
    ...shared,
    name: 'House',
    spec: {
      name,
      rooms: integer({ doc: 'Rooms.', default: 0, keptOnReplace: true, alternativeField: 'halls' }),
      halls: integer({ doc: 'Halls.', default: 0, keptOnReplace: true, alternativeField: 'rooms' }),
    },
  }),
  child('Lodger', { inline: 'lodgers' }),
  child('Lien', { holds: true }),
]);

function stored(kind: string, id: string, spec: JsonObject, parent?: string): StoredObject {
  const times = { createdAt: '2026-01-02T03:04:05Z', updatedAt: '2026-01-02T03:04:05Z' };
  const revisions = { createdRevision: 1, updatedRevision: 1, protected: false, declared: [], derived: {} };
  return { id, kind, name: id, spec: { name: id, ...spec }, ...times, ...revisions, ...(parent ? { parent } : {}) };
}

const house = stored('House', 'house', { rooms: 3, halls: 0 });
const inHouse = (kind: string, id: string) => stored(kind, id, { house: 'house' }, 'house');
const stateOf = (...objects: readonly StoredObject[]) =>
  emptySnapshot(registry, 'acc').with({ put: [house, ...objects], remove: [] });
const contextOf = (...objects: readonly StoredObject[]) => ({
  snapshot: stateOf(...objects),
  validator: createValidator(registry),
  strict: true,
  now: '2026-01-02T03:04:05Z',
  newId: () => 'new',
});

describe('children without a member in their parent', () => {
  it('do not appear in its documents and answers', () => {
    const schema = specSchema(registry, registry.get('House'), 'document');
    expect(Object.keys(schema['properties'] as JsonObject)).toEqual(['name', 'rooms', 'halls', 'lodgers']);
    const state = stateOf(inHouse('Lodger', 'ana'), inHouse('Lien', 'bank'));
    expect(Object.keys(lowerToResponse(registry, house, state))).toEqual(['id', 'name', 'rooms', 'halls', 'lodgers']);
  });
});

describe('a kind of children that protects its parent', () => {
  it('prevents the deletion of the parent while such a child exists', () => {
    const outcome = planDelete(contextOf(inHouse('Lien', 'bank')), registry.get('House'), house);
    expect(outcome.ok ? [] : outcome.problems).toMatchObject([
      { code: 'object_in_use', message: 'house has been linked to lien: house/bank; remove it there first' },
    ]);
  });

  it('allows the deletion of the parent with all other children when no such child exists', () => {
    const outcome = planDelete(contextOf(inHouse('Lodger', 'ana')), registry.get('House'), house);
    expect(outcome.ok && outcome.plan.counts.delete).toBe(2);
  });
});

describe('mutually exclusive fields', () => {
  it.each<readonly [JsonObject, JsonObject]>([
    [{}, { rooms: 3, halls: 0 }],
    [{ rooms: 4 }, { rooms: 4, halls: 0 }],
    [{ halls: 2 }, { rooms: 0, halls: 2 }],
    [{ halls: null }, { rooms: 3, halls: 0 }],
  ])('given as %j in a replace, become %j', (body, kept) => {
    const outcome = planReplace(contextOf(), registry.get('House'), house, { name: 'house', ...body });
    expect(outcome.ok && outcome.next.get('house')?.spec).toEqual({ name: 'house', ...kept });
  });
});
