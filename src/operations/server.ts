import { defineOperation } from '../model/operation/operation.ts';
import { json, object, string } from '../model/schema/field.ts';

const health = object(
  { status: string({ doc: '`ok` or `ready`.' }) },
  { doc: 'Health of the server.', schema: 'Health' },
);

const commonDeclaration = { method: 'GET', tag: 'server' } as const;
const configReadDeclaration = { ...commonDeclaration, access: { module: 'config', operation: 'read' } } as const;

/** Operations about the server itself: home page, health, metrics and API reference. */
export const server = {
  home: defineOperation({
    ...commonDeclaration,
    id: 'readHome',
    path: '/',
    access: { open: 'shows only where people find the objects that links in mails and webhooks refer to' },
    summary: 'Show the home page of the server',
    doc: 'Target of links in notifications: `#notifications` in e-mails, `#objects/ID` in webhooks.',
    answer: string({ doc: '' }),
    answerType: 'text/html',
    example: { answer: '<!doctype html>' },
  }),
  health: defineOperation({
    ...commonDeclaration,
    id: 'readHealth',
    path: '/healthz',
    access: { open: 'shows only that the process answers' },
    summary: 'Check that the process answers',
    answer: health,
    example: { answer: { status: 'ok' } },
  }),
  readiness: defineOperation({
    ...commonDeclaration,
    id: 'readReadiness',
    path: '/readyz',
    access: { open: 'shows only that the database answers' },
    summary: 'Check whether requests can be served',
    answer: health,
    example: { answer: { status: 'ready' } },
  }),
  metrics: defineOperation({
    ...commonDeclaration,
    id: 'readMetrics',
    path: '/metrics',
    // The metrics name accounts and their sources.
    access: 'operator',
    summary: 'Read metrics for Prometheus',
    answer: string({ doc: '' }),
    answerType: 'text/plain',
    example: { answer: '# TYPE heddle_config_revisions_total counter\nheddle_config_revisions_total 17\n' },
  }),
  reference: defineOperation({
    ...configReadDeclaration,
    id: 'readReference',
    path: '/docs',
    summary: 'Read this document as a page',
    answer: string({ doc: '' }),
    answerType: 'text/html',
    example: { answer: '<!doctype html>' },
  }),
  description: defineOperation({
    ...configReadDeclaration,
    id: 'readOpenApi',
    path: '/api/openapi.json',
    summary: 'Read this document',
    answer: json({ type: 'object', additionalProperties: true }, { doc: '' }),
    example: { answer: { openapi: '3.1.0', info: { title: 'Heddle', version: '0.1.0' }, paths: {} } },
  }),
};
