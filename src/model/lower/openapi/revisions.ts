import { configExamples } from './config-examples.ts';
import { type Items, json, listOf, named, query } from './operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

/** The endpoints by which the account's history is read. */
export const revisionItems: Items = {
  '/api/config/revisions': {
    get: {
      id: 'listRevisions',
      tag,
      summary: 'List revisions, newest first',
      description: 'Those that all given parameters fit. With `object` each says what it did to the object.',
      parameters: [
        query('source', 'Only those that applied this source.'),
        query('request', 'Only that of this request, as an error in doubt names it.'),
        query('actor', 'Only those of the actor with this id, name or e-mail address.'),
        query('kind', 'Only those that changed an object of this kind.'),
        query('object', 'Only those that changed this object: an id, or `Kind/key`, also a former one.'),
        query('since', 'Only those made at this time or later.', { type: 'string', format: 'date-time' }),
        query('until', 'Only those made before this time.', { type: 'string', format: 'date-time' }),
        query('before', 'Only revisions before this one.', { type: 'integer', minimum: 1 }),
        query('limit', 'How many at most; 100 unless said otherwise.', { type: 'integer', minimum: 1, maximum: 1000 }),
      ],
      answer: json(listOf('Revision'), configExamples.revisions),
      errors: [...common, 422],
    },
  },
  '/api/config/revisions/{n}': {
    get: {
      id: 'readRevision',
      tag,
      summary: 'Read a revision with its changes',
      answer: json(named('RevisionWithChanges'), configExamples.revision),
      errors: [...common, 404, 410],
    },
  },
  '/api/config/revisions/{n}/rollback': {
    post: {
      id: 'planRollback',
      tag,
      summary: 'Plan the way back to a revision',
      description:
        'Stores a plan by which objects and units become what they were after the revision, under the same ids; it is applied like any other plan. It suspends the sources that it touches. Restrictions are not undone and credentials do not come back: warnings list them. What is missing for it refuses all of it.',
      body: json(named('RollbackRequest'), { scope: 'sources' }),
      optionalBody: true,
      answer: json(named('Plan'), configExamples.rollbackPlan),
      status: 201,
      errors: [400, ...common, 404, 409, 410, 412, 413, 415, 422],
    },
  },
};
