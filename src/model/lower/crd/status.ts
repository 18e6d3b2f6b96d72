import type { JsonObject } from '../../../lib/json.ts';
import { conditionStatuses } from '../../sources/status.ts';
import { field } from './definition.ts';

/** Maximum number of problems in the status of a resource. */
export const maxProblems = 20;

/** Returns the schema of a list of problems. */
export function problemsSchema(description: string, where: string): JsonObject {
  return field.list(description, maxProblems, {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      path: field.text(where),
      code: field.text('The problem in one word, for programs.'),
      message: field.text('Description of the problem and what to do, for people.'),
    },
  });
}

/** Returns the schema of Kubernetes conditions. */
export function conditionsSchema(description: string): JsonObject {
  return {
    type: 'array',
    description,
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
  };
}

/** Schema of the generation to which the rest of the status refers. */
export const observedGeneration = field.number('Generation to which the rest of the status refers.');

/**
 * Schema of the status that the server writes. Must contain every member, because the API server refuses to apply
 * others.
 */
export const statusSchema: JsonObject = {
  type: 'object',
  description: 'State of the resource; written by the server.',
  properties: {
    observedGeneration,
    id: field.text('The id of the object in the account.'),
    revision: field.number('The account revision in which the object last changed.'),
    source: field.text('The source that reads the resource.'),
    planId: field.text('The plan that waits for an approval before the resource is applied.'),
    outputSecret: field.text('The Secret that holds what the server generated for the resource.'),
    problems: problemsSchema(
      'Problems of the resource; only the first ones when there are many.',
      'Place of the problem, as a JSON pointer into the resource.',
    ),
    conditions: conditionsSchema('Ready, Reconciling, Stalled, Drifted and Conflicted.'),
  },
};
