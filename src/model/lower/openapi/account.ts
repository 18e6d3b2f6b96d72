import { configExamples } from './config-examples.ts';
import { type Items, json, query, textual } from './operation.ts';

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
};
