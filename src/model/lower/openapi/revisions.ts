import { configExamples } from './config-examples.ts';
import { type Items, json, named } from './operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

/** The endpoint by which the way back to a revision is planned. */
export const revisionItems: Items = {
  '/api/config/revisions/{revision}/rollback': {
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
