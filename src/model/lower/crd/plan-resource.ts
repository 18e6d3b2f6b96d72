import type { JsonObject } from '../../../lib/json.ts';
import { ageColumn, conditionPath, definitionOf, field, resourceSchema } from './definition.ts';
import { conditionsSchema, observedGeneration } from './status.ts';

/**
 * Limits on how much of a plan its resource shows: list lengths, and text length in characters. `heddle plans` shows
 * the whole plan.
 */
export const planBounds = { changes: 50, fields: 10, accessRows: 20, guards: 50, longestText: 500 } as const;

const spec = field.object('Who lets the plan through.', {
  approvedDigest: field.text('`status.digest` of the plan as it was read; another one approves nothing.', {
    pattern: '^[0-9a-f]{64}$',
  }),
  approvedBy: field.text(
    'The name of the user who approves, as the API server knows it (`kubectl auth whoami`); recorded with the approval.',
    { minLength: 1, maxLength: 512 },
  ),
});

const pairs = (what: string) => field.number(`How many pairs of peers or resources ${what} some access.`);

const status = field.object('What the plan would do; written by the server.', {
  observedGeneration,
  source: field.text('The source that it is of.'),
  digest: field.text('Names what the plan does, all of it; this is approved.'),
  baseRevision: field.number('The account revision that it was made on.'),
  createdAt: field.time('When it was made.'),
  expiresAt: field.time('Until when it can be approved; what still waits then gets another plan.'),
  counts: field.object('How many objects it changes.', {
    create: field.number('How many it creates.'),
    update: field.number('How many it changes.'),
    delete: field.number('How many it deletes.'),
    claims: field.number('How many it claims or releases without changing a value.'),
  }),
  guards: field.list('Why it wants an approval.', planBounds.guards, {
    type: 'object',
    required: ['guard', 'message'],
    properties: {
      guard: field.text('The guard in one word.'),
      message: field.text('What it found.'),
    },
  }),
  access: field.object('Who gains and loses access; absent when nobody does.', {
    gained: pairs('gain'),
    lost: pairs('lose'),
    rows: field.list('By the groups and objects that rules name.', planBounds.accessRows, {
      type: 'object',
      properties: {
        change: field.text('Whether access is gained or lost.', { enum: ['gained', 'lost'] }),
        from: field.text('Who connects.'),
        to: field.text('To what.'),
        traffic: field.text('Such as `tcp/443, udp`.'),
        pairs: field.number('How many pairs.'),
      },
    }),
    more: field.text('How much is left out.'),
  }),
  changes: field.list('What it does to which object.', planBounds.changes, {
    type: 'object',
    required: ['action', 'kind', 'name'],
    properties: {
      action: field.text('create, update or delete.'),
      kind: field.text('The kind of the object.'),
      name: field.text('Its key, or its name.'),
      fields: {
        ...field.list('What changes of it, the first of it when there is much.', planBounds.fields, { type: 'string' }),
      },
    },
  }),
  more: field.text('How many changes are left out, and how to see all.'),
  approvedBy: field.text('Who approved it.'),
  approvedAt: field.time('When.'),
  conditions: conditionsSchema('Approved.'),
});

const columns: readonly JsonObject[] = [
  { name: 'Source', type: 'string', jsonPath: '.status.source' },
  { name: 'Approved', type: 'string', jsonPath: conditionPath('Approved', 'status') },
  { name: 'Creates', type: 'integer', jsonPath: '.status.counts.create' },
  { name: 'Updates', type: 'integer', jsonPath: '.status.counts.update' },
  { name: 'Deletes', type: 'integer', jsonPath: '.status.counts.delete' },
  { name: 'Expires', type: 'string', jsonPath: '.status.expiresAt' },
  ageColumn,
  { name: 'Message', type: 'string', jsonPath: conditionPath('Approved', 'message'), priority: 1 },
  { name: 'Digest', type: 'string', jsonPath: '.status.digest', priority: 1 },
];

/** The CustomResourceDefinition of plans that wait for an approval. */
export const planDefinition: JsonObject = definitionOf({
  kind: 'Plan',
  shortName: 'hplan',
  columns,
  schema: resourceSchema(
    'A plan of a namespace that waits for an approval. The server makes it and takes it away; users with the right to change it approve. It is no document.',
    spec,
    status,
  ),
});
