import { count, nullable, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { json, list, object, oneOf, string, type ValueOf } from '../../model/schema/field.ts';

const unit = object(
  {
    kind: string({ doc: 'The kind of the object.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    path: string({ doc: 'Path of the unit, such as `enabled`, `peers[ana-laptop]` or `rules[web]`.' }),
    stated: optional(
      json(
        {},
        {
          doc: 'Stated value. Absent for a member that no source states, in a group that may contain only stated members.',
        },
      ),
    ),
    effective: optional(json({}, { doc: 'Value in the account. Absent when there is none.' })),
    source: string({ doc: 'The source that states it.' }),
    file: string({ doc: 'File in which it is stated.' }),
    line: count({ doc: 'Line number in the file, from 1.' }),
    why: oneOf(['api', 'override', 'failsafe', 'pending'], {
      doc: '`api`: it was changed through the API. `override`: it is overridden for a while. `failsafe`: it is a restriction, which documents do not undo. `pending`: it refers to an object that does not exist yet.',
    }),
    until: optional(time({ doc: 'Time at which the override ends. Absent without an override.' })),
    by: optional(string({ doc: 'Person who requested the override. Absent without an override.' })),
    reason: optional(string({ doc: 'Reason for the override. Absent without an override.' })),
  },
  { doc: 'A unit that differs from what a source states.', schema: 'DriftUnit' },
);

const manualRun = object(
  {
    source: string({ doc: 'The source.' }),
    revision: count({ doc: 'The revision that was applied by hand.' }),
    by: string({ doc: 'Who applied it.' }),
    commit: nullable(string({ doc: 'Commit that the server applied before; `null` when the source has no commits.' })),
  },
  { doc: 'A source that a server runs, and that was applied by hand since.', schema: 'HandRun' },
);

const report = object(
  {
    revision: count({ doc: 'The revision of the account.' }),
    units: list(unit, { doc: '' }),
    byHand: list(manualRun, { doc: '' }),
  },
  { doc: 'Differences between the account and what sources state.', schema: 'Drift' },
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
    summary: 'List the drift of the account',
    doc: 'Only the account is read: documents that are not applied yet are not drift.',
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
