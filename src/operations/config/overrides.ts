import type { JsonObject } from '../../lib/json.ts';
import { count, optional, time } from '../../model/operation/fields.ts';
import { defineOperation } from '../../model/operation/operation.ts';
import { json, list, object, string, type ValueOf } from '../../model/schema/field.ts';

const textList = (doc: string) => list(string({ doc: '' }), { doc });

/** Value that is overridden for a limited time. */
export const runningOverride = object(
  {
    kind: string({ doc: 'The kind of the object.' }),
    key: optional(string({ doc: 'Its `metadata.name`, when it has one.' })),
    name: string({ doc: 'Its display name.' }),
    id: string({ doc: 'Its id.' }),
    path: string({ doc: 'Path of the unit, such as `enabled`, `peers[ana-laptop]` or `rules[web]`.' }),
    value: optional(json({}, { doc: 'Present value of the unit; absent when the unit does not exist.' })),
    stated: optional(json({}, { doc: 'Value that a source states; absent for a member that no source states.' })),
    source: optional(string({ doc: 'The source that states it.' })),
    file: optional(string({ doc: 'File that states it.' })),
    line: optional(count({ doc: 'Line in the file, from 1.' })),
    by: string({ doc: 'Who set the override.' }),
    reason: string({ doc: 'Why.' }),
    since: time({ doc: 'Since when.' }),
    until: time({ doc: 'When it ends.' }),
  },
  { doc: 'A value that is overridden for a while.', schema: 'RunningOverride' },
);

const objectFields = {
  kind: string({ doc: 'The kind of the object.' }),
  name: string({ doc: 'Its key, id or display name.' }),
};

const revision = count({ doc: 'The revision of the account.' });

const objectOverrides = object(
  {
    revision,
    overrides: list(runningOverride, { doc: '' }),
    lasting: textList('Fields that now have a restrictive value and keep it until a request loosens it.'),
    notices: textList('Notices for the caller.'),
  },
  { doc: 'Overrides of the object after the request.', schema: 'Overridden' },
);

/** Overrides of an object, after one began or ended. */
export type ObjectOverrides = ValueOf<typeof objectOverrides>;

const example = {
  ...{ kind: 'Route', key: 'office', name: 'office', id: 'ch8i4ug6lnn4g9hqv7mg' },
  ...{ path: 'metric', value: 5, stated: 100 },
  ...{ source: 'office', file: 'routes.yaml', line: 5, by: 'Ana Lima', reason: 'incident 4711' },
  ...{ since: '2026-01-02T03:04:05.000Z', until: '2026-01-02T03:34:05.000Z' },
};

const path = '/api/config/overrides';

/** Operations on overrides, with names instead of ids. */
export const overrides = {
  list: defineOperation({
    id: 'listOverrides',
    method: 'GET',
    path,
    access: { module: 'config', operation: 'read' },
    summary: 'List the running overrides',
    doc: 'Values that are overridden for a while although sources state others.',
    query: { source: optional(string({ doc: 'Only overrides of objects that this source states.' })) },
    answer: object(
      { revision, overrides: list(runningOverride, { doc: '' }) },
      { doc: 'The running overrides.', schema: 'Overrides' },
    ),
    example: { answer: { revision: 18, overrides: [example] } },
  }),
  start: defineOperation({
    id: 'overrideObject',
    method: 'POST',
    path,
    access: { module: 'config', operation: 'update' },
    summary: 'Override what sources state about an object, for a while',
    doc: 'Same as a replacement with the header `X-Break-Glass`, but with names instead of ids. Values that no source states are refused, because nothing would restore them.',
    bodySchema: 'OverrideRequest',
    body: {
      ...objectFields,
      values: json<JsonObject>(
        { type: 'object', additionalProperties: true },
        {
          doc: 'New values by field: `metric`, `settings.ttl`, `rules[web].enabled`, or `peers[ana-laptop]` with `true` or `false`. References are names, as in documents.',
        },
      ),
      reason: string({ doc: 'Reason, in at most 500 characters.' }),
      ttl: optional(string({ doc: 'Duration, such as `30m`; default 4 hours, at most 24 hours.' })),
    },
    answer: objectOverrides,
    errors: ['not_found', 'conflict'],
    example: {
      body: { kind: 'Route', name: 'office', values: { metric: 5 }, reason: 'incident 4711', ttl: '30m' },
      answer: { revision: 19, overrides: [example], lasting: [], notices: [] },
    },
  }),
  end: defineOperation({
    id: 'endOverride',
    method: 'POST',
    path: `${path}/end`,
    access: { module: 'config', operation: 'update' },
    summary: 'End overrides of an object early',
    doc: 'The stated values apply again at once.',
    bodySchema: 'OverrideEnd',
    body: { ...objectFields, paths: optional(textList('Fields to release. Absent: all fields.')) },
    answer: objectOverrides,
    errors: ['not_found', 'conflict'],
    example: {
      body: { kind: 'Route', name: 'office', paths: ['metric'] },
      answer: { revision: 20, overrides: [], lasting: [], notices: [] },
    },
  }),
};

/** Unit that is overridden for a limited time, with names instead of ids, and without secrets. */
export type RunningOverride = ValueOf<typeof runningOverride>;
