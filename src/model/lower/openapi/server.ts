import { type Items, json, named, textual } from './operation.ts';

/** The endpoints about the server itself. */
export const serverItems: Items = {
  '/healthz': {
    get: {
      id: 'readHealth',
      tag: 'server',
      summary: 'Say that the process answers',
      answer: json(named('Health'), { status: 'ok' }),
      open: true,
      errors: [],
    },
  },
  '/readyz': {
    get: {
      id: 'readReadiness',
      tag: 'server',
      summary: 'Say whether requests can be served',
      answer: json(named('Health'), { status: 'ready' }),
      open: true,
      errors: [503],
    },
  },
  '/metrics': {
    get: {
      id: 'readMetrics',
      operator: true,
      tag: 'server',
      summary: 'Read measurements for Prometheus',
      answer: textual('text/plain', '# TYPE config_revisions_total counter\nconfig_revisions_total 17\n'),
      errors: [401, 403, 503],
    },
  },
  '/docs': {
    get: {
      id: 'readReference',
      tag: 'server',
      summary: 'Read this document as a page',
      answer: textual('text/html', '<!doctype html>'),
      errors: [401, 403, 429, 503],
    },
  },
  '/api/openapi.json': {
    get: {
      id: 'readOpenApi',
      tag: 'server',
      summary: 'Read this document',
      answer: json({ type: 'object' }, { openapi: '3.1.0', info: { title: 'Heddle', version: '0.1.0' }, paths: {} }),
      errors: [401, 403, 429, 503],
    },
  },
};
