import { count, nullable, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { json, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

const unit = object(
  {
    kind: string({ doc: 'The kind of the object.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    path: string({ doc: 'Such as `enabled`, `peers[ana-laptop]` or `rules[web]`.' }),
    stated: optional(json({}, { doc: 'Absent for a member that nobody states in a group that is to have no others.' })),
    effective: optional(json({}, { doc: 'Absent when it is not there.' })),
    source: string({ doc: 'The source that states it.' }),
    file: string({ doc: 'Where it is stated.' }),
    line: count({ doc: 'Where in the file, from 1.' }),
    why: oneOf(['api', 'override', 'failsafe', 'pending'], {
      doc: 'Somebody changed it; somebody overrides it for a while; it restricts, which documents do not undo; it names what is not there.',
    }),
    until: optional(time({ doc: 'Of an override: when it ends.' })),
    by: optional(string({ doc: 'Of an override: who asked for it.' })),
    reason: optional(string({ doc: 'Of an override: why.' })),
  },
  { doc: 'A unit that is not as a source states it.', schema: 'DriftUnit' },
);

const manualRun = object(
  {
    source: string({ doc: 'The source.' }),
    revision: count({ doc: 'The revision that was applied by hand.' }),
    by: string({ doc: 'Who applied it.' }),
    commit: nullable(string({ doc: 'The commit that the server applied before, where there are commits.' })),
  },
  { doc: 'A source that a server runs and that somebody applied by hand since.', schema: 'HandRun' },
);

const report = object(
  {
    revision: count({ doc: 'The revision of the account.' }),
    units: list(unit, { doc: '' }),
    byHand: list(manualRun, { doc: '' }),
  },
  { doc: 'What differs from what sources state.', schema: 'Drift' },
);

/** Drift of an account at a revision. */
export type DriftReport = ValueOf<typeof report>;

/** Unit that differs from what a source states, with names instead of ids. */
export type DriftUnit = ValueOf<typeof unit>;

/** Source that a server runs, and that a user has applied manually since. */
export type ManualRun = ValueOf<typeof manualRun>;

/** Operation that reads drift. */
export const drift = {
  read: defineOperation({
    id: 'readDrift',
    method: 'GET',
    path: '/api/config/drift',
    access: { module: 'config', operation: 'read' },
    summary: 'Say what is not as sources state it',
    doc: 'Nothing is read but the account itself: documents that are not applied yet are no drift.',
    query: { source: optional(string({ doc: 'Only what this source states.' })) },
    answer: report,
    example: {
      answer: {
        revision: 18,
        units: [
          {
            ...{ kind: 'Policy', key: 'developers-to-databases', name: 'Developers to databases' },
            ...{ id: 'ch8i4ug6lnn4g9hqv7mg', path: 'enabled', stated: true, effective: false },
            ...{ source: 'office', file: 'policies.yaml', line: 12 },
            ...{ why: 'override', until: '2026-01-02T07:04:05.000Z', by: 'Ana Lima', reason: 'incident 4711' },
          },
        ],
        byHand: [
          { source: 'office', revision: 18, by: 'Ana Lima', commit: '9a52c0de4f0b7e21c3d48a6f5e9b1c70d2e83f46' },
        ],
      },
    },
  }),
};
