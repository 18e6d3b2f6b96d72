import type { Json } from '../../../lib/json.ts';
import { configExamples } from './config-examples.ts';
import { type Items, json, named } from './operation.ts';

const results = {
  ...{ revision: 18, passed: 1, failed: 0, conditional: 0 },
  tests: [
    {
      ...{ key: 'devs-to-db', name: 'Developers reach the databases', asked: 'tcp/5432', expect: 'allow' },
      from: { kind: 'Group', key: 'devs', name: 'devs' },
      to: { kind: 'Group', key: 'db', name: 'db' },
      outcome: 'pass',
      message:
        'expects tcp/5432 from `devs` to `db` to be allowed: `Laptop` may open tcp/5432 to `Database`: rule `pg` of policy `devs-to-db` lets tcp/5432 through (policies.yaml:12)',
      ...{ file: 'tests.yaml', line: 1 },
    },
  ],
} satisfies Json;

/** The endpoint that runs access tests on documents. */
export const accessItems: Items = {
  '/api/config/tests': {
    post: {
      id: 'runTests',
      tag: 'config',
      summary: 'Run access tests on what documents lead to',
      description: 'Nothing is written or kept; documents with a fault are refused (422).',
      body: json(named('DocumentFiles'), configExamples.files),
      answer: json(named('TestResults'), results),
      errors: [400, 401, 403, 413, 415, 422, 429, 503],
    },
  },
};
