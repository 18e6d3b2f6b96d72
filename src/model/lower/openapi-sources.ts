import { configExamples } from './openapi-config-examples.ts';
import { type Items, json, listOf } from './openapi-operation.ts';

const tag = 'config';
const common = [401, 403, 429, 503];

/** The endpoints about sources. */
export const sourceItems: Items = {
  '/api/config/sources': {
    get: {
      id: 'listSources',
      tag,
      summary: 'List sources',
      answer: json(listOf('Source'), configExamples.sources),
      errors: common,
    },
  },
};
