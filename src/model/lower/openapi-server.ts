import { type Items, json, named } from './openapi-operation.ts';

/** The endpoints about the server itself. */
export const serverItems: Items = {
  '/healthz': {
    get: {
      id: 'readHealth',
      tag: 'server',
      summary: 'Say that the process answers',
      answer: json(named('Health')),
      open: true,
      errors: [],
    },
  },
  '/readyz': {
    get: {
      id: 'readReadiness',
      tag: 'server',
      summary: 'Say whether requests can be served',
      answer: json(named('Health')),
      open: true,
      errors: [503],
    },
  },
  '/metrics': {
    get: {
      id: 'readMetrics',
      tag: 'server',
      summary: 'Read measurements for Prometheus',
      answer: { 'text/plain': { schema: { type: 'string' } } },
      errors: [401, 403, 503],
    },
  },
  '/docs': {
    get: {
      id: 'readReference',
      tag: 'server',
      summary: 'Read this document as a page',
      answer: { 'text/html': { schema: { type: 'string' } } },
      errors: [401, 403, 429, 503],
    },
  },
  '/api/openapi.json': {
    get: {
      id: 'readOpenApi',
      tag: 'server',
      summary: 'Read this document',
      answer: json({ type: 'object' }),
      errors: [401, 403, 429, 503],
    },
  },
};
