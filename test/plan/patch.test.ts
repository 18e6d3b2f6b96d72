import fc from 'fast-check';
import patches from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { runToEnd } from '../../src/lib/steps.ts';
import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import {
  integer,
  keyed,
  list,
  members,
  object,
  optionalString,
  refs,
  setOf,
  string,
} from '../../src/model/schema/field.ts';
import { normalize } from '../../src/model/schema/normalize.ts';
import { contentFromSpec } from '../../src/model/state/members.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import { patchesInSteps } from '../../src/plan/view/patch.ts';

const thing = defineKind({
  name: 'Thing',
  doc: 'A thing with a field of every shape that has parts.',
  module: 'things',
  document: { allowed: true },
  spec: {
    name: string({ doc: 'Its name.' }),
    note: optionalString({ doc: 'A note.' }),
    tags: setOf(string({ doc: 'A tag.' }), { doc: 'Its tags.' }),
    steps: list(integer({ doc: 'A step.' }), { doc: 'Its steps, in order.' }),
    friends: refs('Thing', { doc: 'Its friends.' }),
    crowd: members('Thing', { doc: 'Its crowd.' }),
    parts: keyed(
      { name: string({ doc: 'Name.' }), size: integer({ doc: 'Size.', default: 0 }) },
      { doc: 'Its parts.', key: 'name' },
    ),
    more: object({ colour: string({ doc: 'Colour.', default: 'red' }) }, { doc: 'More.', default: {} }),
  },
  example: { name: 'thing' },
});
const registry = createRegistry([thing]);

const word = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const specs = fc
  .record(
    {
      name: word,
      note: word,
      tags: fc.array(word),
      steps: fc.array(fc.integer({ min: 0, max: 5 })),
      friends: fc.array(word),
      crowd: fc.uniqueArray(word).map((ids) => Object.fromEntries(ids.map((id) => [id, ['api']]))),
      parts: fc.uniqueArray(fc.record({ name: word, size: fc.integer({ min: 0, max: 3 }) }), {
        selector: ({ name }) => name,
      }),
      more: fc.record({ colour: word }),
    },
    { requiredKeys: ['name'] },
  )
  .map((spec) => normalize(thing.spec, spec).spec);

function stored(spec: StoredObject['spec']): StoredObject {
  const times = { createdRevision: 1, updatedRevision: 1, createdAt: '', updatedAt: '' };
  return {
    id: 'x',
    kind: 'Thing',
    name: 'x',
    ...contentFromSpec(thing.spec, spec),
    derived: {},
    protected: false,
    declared: [],
    ...times,
  };
}

describe('the RFC 6902 view of a plan', () => {
  it('turns the stored spec into the planned one', () => {
    fc.assert(
      fc.property(specs, specs, (before, after) => {
        const change = {
          action: 'update' as const,
          before: stored(before),
          after: stored(after),
          units: [],
          resets: [],
          risks: [],
        };
        const [only] = runToEnd(patchesInSteps(registry, { changes: [change] } as never));
        const asLists = ({ spec, members }: StoredObject) => ({ ...spec, crowd: members?.['crowd']?.keys() });
        expect(
          patches.applyPatch(structuredClone(asLists(change.before)), [...(only?.patch ?? [])], true).newDocument,
        ).toEqual(asLists(change.after));
      }),
    );
  });
});
