import type { JsonObject } from '../../../lib/json.ts';
import { ageColumn, conditionPath, definitionOf, field, resourceSchema } from './definition.ts';
import { conditionsSchema, observedGeneration } from './status.ts';

/**
 * Limits on how much of a plan its resource shows: list lengths, and text length in characters. `heddle plans` shows
 * the whole plan.
 */
export const planBounds = { changes: 50, fields: 10, accessRows: 20, guards: 50, longestText: 500 } as const;

const spec = field.object('Approval of the plan.', {
  approvedDigest: field.text('`status.digest` of the plan that was reviewed. Any other digest approves nothing.', {
    pattern: '^[0-9a-f]{64}$',
  }),
  approvedBy: field.text(
    'Name of the approving user, as the API server knows it (`kubectl auth whoami`); recorded with the approval.',
    { minLength: 1, maxLength: 512 },
  ),
});

const pairs = (what: string) => field.number(`Number of pairs of peers or resources that ${what} some access.`);

const status = field.object('Effect of the plan; written by the server.', {
  observedGeneration,
  source: field.text('Source to which the plan belongs.'),
  digest: field.text('Digest of all changes of the plan. An approval refers to this digest.'),
  baseRevision: field.number('Account revision on which the plan is based.'),
  createdAt: field.time('Time at which the plan was created.'),
  expiresAt: field.time('Time until which the plan can be approved. Changes that still wait then get a new plan.'),
  counts: field.object('Numbers of changed objects.', {
    create: field.number('Number of created objects.'),
    update: field.number('Number of updated objects.'),
    delete: field.number('Number of deleted objects.'),
    claims: field.number('Number of objects that are claimed or released without a change of a value.'),
  }),
  guards: field.list('Reasons why the plan needs an approval.', planBounds.guards, {
    type: 'object',
    required: ['guard', 'message'],
    properties: {
      guard: field.text('Name of the guard, in one word.'),
      message: field.text('Finding of the guard.'),
    },
  }),
  access: field.object('Gained and lost access. Absent when no access changes.', {
    gained: pairs('gain'),
    lost: pairs('lose'),
    rows: field.list('Access changes, by the groups and objects that rules name.', planBounds.accessRows, {
      type: 'object',
      properties: {
        change: field.text('Whether access is gained or lost.', { enum: ['gained', 'lost'] }),
        from: field.text('Who connects.'),
        to: field.text('To what.'),
        traffic: field.text('Traffic, such as `tcp/443, udp`.'),
        pairs: field.number('Number of pairs.'),
      },
    }),
    more: field.text('Note about omitted rows, and how to see all of them.'),
  }),
  changes: field.list('Changed objects, each with its action.', planBounds.changes, {
    type: 'object',
    required: ['action', 'kind', 'name'],
    properties: {
      action: field.text('create, update or delete.'),
      kind: field.text('The kind of the object.'),
      name: field.text('Key of the object, or its name when it has no key.'),
      fields: {
        ...field.list('Changed fields; only the first ones when there are many.', planBounds.fields, {
          type: 'string',
        }),
      },
    },
  }),
  more: field.text('Note about omitted changes, and how to see all of them.'),
  approvedBy: field.text('Approver of the plan.'),
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
    'Plan of a namespace that waits for an approval. The server creates and deletes it; users with the right to change it approve it. It is not a document.',
    spec,
    status,
  ),
});
