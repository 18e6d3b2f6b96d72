import type { JsonObject } from '../../../lib/json.ts';
import { conditionStatuses } from '../../sources/status.ts';

/** How many problems a resource shows. */
const mostProblems = 20;

const text = (description: string): JsonObject => ({ type: 'string', description });

/** What the server writes to a resource: every member, because the API server refuses to apply others. */
export const statusSchema: JsonObject = {
  type: 'object',
  description: 'What became of the resource; written by the server.',
  properties: {
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'The generation that the rest of the status is about.',
    },
    id: text('The id of the object in the account.'),
    revision: {
      type: 'integer',
      format: 'int64',
      description: 'The account revision in which the object last changed.',
    },
    source: text('The source that reads the resource.'),
    planId: text('The plan that waits for an approval before the resource is applied.'),
    outputSecret: text('The Secret that holds what the server generated for the resource.'),
    problems: {
      type: 'array',
      description: 'What is wrong with the resource, the first of it when there is much.',
      maxItems: mostProblems,
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          path: text('Where, as a JSON pointer into the resource.'),
          code: text('The problem in one word, for programs.'),
          message: text('The problem and a way out, for people.'),
        },
      },
      'x-kubernetes-list-type': 'atomic',
    },
    conditions: {
      type: 'array',
      description: 'Ready, Reconciling, Stalled, Drifted and Conflicted.',
      items: {
        type: 'object',
        required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
        properties: {
          type: { type: 'string', maxLength: 316 },
          status: { type: 'string', enum: conditionStatuses },
          observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
          lastTransitionTime: { type: 'string', format: 'date-time' },
          reason: { type: 'string', minLength: 1, maxLength: 1024 },
          message: { type: 'string', maxLength: 32768 },
        },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
  },
};
