import { defineKind } from '../../src/model/declare/kind.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { boolean, integer, keyed, members, setOf, string } from '../../src/model/schema/field.ts';

/** A kind with a unit of every sort: values, a value that restricts, elements of a set, entries and members. */
const thing = defineKind({
  name: 'Thing',
  doc: 'A thing.',
  module: 'test',
  document: { allowed: true },
  spec: {
    name: string({ doc: 'Name.', required: true }),
    note: string({ doc: 'Note.', default: '' }),
    level: integer({ doc: 'Level.', default: 0 }),
    cut: boolean({ doc: 'Whether it is cut off.', default: false, failsafe: true }),
    tags: setOf(string({ doc: 'Tag.' }), { doc: 'Tags.' }),
    steps: keyed(
      { name: string({ doc: 'Name.', required: true }), at: integer({ doc: 'When.', default: 0 }) },
      { doc: 'Steps.', key: 'name' },
    ),
    crew: members('Person', { doc: 'Crew.' }),
  },
  example: {},
});

const person = defineKind({
  name: 'Person',
  doc: 'A person.',
  module: 'test',
  document: { allowed: true, creates: false },
  pending: true,
  spec: { name: string({ doc: 'Name.', required: true }) },
  example: {},
});

/** Registry of the kinds that sources and API callers change. */
export const worldRegistry = createRegistry([thing, person]);
