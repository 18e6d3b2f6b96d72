import { configExamples } from './config-examples.ts';
import { type Items, json, named, query, textual } from './operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

/** The endpoints about the account as a whole. */
export const accountItems: Items = {
  '/api/config/export': {
    get: {
      id: 'exportDocuments',
      tag,
      summary: 'Export the account as documents',
      description: 'Applying the answer changes nothing.',
      parameters: [
        query('kind', 'Only objects of this kind.'),
        query('source', 'Only what this source states.'),
        query('object', 'Only this object: an id, or its kind with its key, name or id, such as `Group/developers`.'),
        query('revision', 'The account as it was after this revision.', { type: 'integer', minimum: 1 }),
        query('markAdopt', 'Whether every document names its object by id, also where the key says it.', {
          type: 'boolean',
        }),
        query('format', 'The form of the answer.', { type: 'string', enum: ['yaml', 'json'] }),
      ],
      answer: {
        ...textual('application/yaml', configExamples.yaml),
        ...json({ type: 'array', items: { type: 'object' } }, configExamples.exported),
      },
      errors: [...common, 404, 410, 422],
    },
  },
  '/api/config/secrets/rotate': {
    post: {
      id: 'rotateSecrets',
      operator: true,
      tag,
      summary: 'Seal all secrets again under the newest key',
      description:
        'Says how many rows were written, and which stored secrets do not open with any key of the server: these stay as they are, and none of the others depends on them. Afterwards older keys are not needed any more, and the form in which earlier releases sealed is refused. `acceptUnbound` in a JSON body takes that form once more.',
      answer: json(
        {
          type: 'object',
          required: ['rows', 'unreadable', 'unreadableCount'],
          properties: {
            rows: { type: 'integer' },
            unreadable: {
              type: 'array',
              description: 'The first of them when there are more than a thousand.',
              items: {
                type: 'object',
                required: ['what', 'object', 'path', 'reason'],
                properties: {
                  what: { type: 'string' },
                  account: { type: 'string' },
                  object: { type: 'string' },
                  path: { type: 'string' },
                  reason: { type: 'string' },
                },
              },
            },
            unreadableCount: { type: 'integer' },
          },
        },
        configExamples.rotated,
      ),
      errors: [...common, 412],
    },
  },
  '/api/config/idp/rotate': {
    post: {
      id: 'rotateIdpKeys',
      operator: true,
      tag,
      summary: 'Sign tokens of the embedded identity provider with a new key',
      description: 'Says which. What the key before it signed stays good until it ends.',
      answer: json(
        { type: 'object', required: ['key'], properties: { key: { type: 'string' } } },
        configExamples.rotatedKey,
      ),
      errors: [...common, 412],
    },
  },
  '/api/config/status': {
    get: {
      id: 'readStatus',
      tag,
      summary: 'Say how the account and its sources stand',
      answer: json(named('Status'), configExamples.status),
      errors: common,
    },
  },
};
