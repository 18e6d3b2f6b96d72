import { optional, reported, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, object, string } from '../model/schema/field.ts';
import { tunnelKey } from './tunnel-key.ts';

const proxyId = string({
  doc: 'Id that the proxy chooses; it stays the same after a restart.',
  ...{ minLength: 1, maxLength: 64 },
});

const refusals = object(
  {
    refused: list(
      object(
        { index: integer({ doc: 'Its place.' }), reason: string({ doc: 'What is wrong with it.' }) },
        { doc: '', schema: 'RefusedItem' },
      ),
      { doc: 'Items that were rejected; all others were accepted.' },
    ),
  },
  { doc: 'Rejected items of a report.', schema: 'ProxyReportAnswer' },
);

const proxyDocPrefix =
  'Used by reverse proxies, with `Authorization: Bearer nbx_…`; not part of the management interface.';

const commonDeclaration = {
  method: 'POST',
  access: { open: 'requires a proxy token' },
  tag: 'proxy',
  errors: ['unauthenticated', 'not_found'],
} as const;

const proxyIdDeclaration = { ...commonDeclaration, body: { proxy_id: proxyId }, bodySchema: 'ProxySign' } as const;
const example = { proxy_id: 'bern-1' };

/** Operations that reverse proxies call to register, to follow their services and to report status. */
export const proxy = {
  register: defineOperation({
    ...commonDeclaration,
    id: 'registerProxy',
    path: '/proxy/register',
    summary: 'Register a proxy',
    doc: `${proxyDocPrefix} Creates the cluster of the address if it does not exist, and sets its abilities.`,
    body: {
      proxy_id: proxyId,
      address: string({ doc: 'Domain below which its cluster offers services.', minLength: 1, maxLength: 255 }),
      version: optional(string({ doc: 'The version of the proxy.', maxLength: 64 })),
      supports_custom_ports: optional(boolean({ doc: 'Whether services may choose their port.' })),
      require_subdomain: optional(boolean({ doc: 'Whether services need a subdomain of the address.' })),
      supports_reputation: optional(boolean({ doc: 'Whether it can reject addresses with a bad reputation.' })),
      private: optional(boolean({ doc: 'Whether it offers private services.' })),
      wg_pub_key: optional(
        string({
          doc: 'Public key of its tunnel (X25519, base64). With a key, the proxy has an address in the mesh.',
          format: tunnelKey,
        }),
      ),
    },
    answer: object(
      {
        proxy_id: proxyId,
        cluster: object(
          { id: string({ doc: 'The id of the cluster.' }), address: string({ doc: 'Its address.' }) },
          { doc: '' },
        ),
        heartbeat_interval: integer({ doc: 'Interval between heartbeats, in seconds.' }),
        peer: optional(
          object(
            { id: string({ doc: 'Its id in network maps.' }), ip: string({ doc: 'Its address in the mesh.' }) },
            { doc: '' },
          ),
        ),
      },
      { doc: 'Answer to the registration of a proxy.', schema: 'RegisteredProxy' },
    ),
    noStore: true,
    errors: ['unauthenticated', 'not_allowed', 'not_found', 'conflict'],
    example: {
      body: { ...example, address: 'proxy.example.com', version: '1.4.0', supports_custom_ports: true },
      answer: {
        ...{ ...example, cluster: { id: 'ch8i4ug6lnn4g9hqv9b0', address: 'proxy.example.com' } },
        heartbeat_interval: 30,
      },
    },
  }),
  heartbeat: defineOperation({
    ...proxyIdDeclaration,
    id: 'hearProxy',
    path: '/proxy/heartbeat',
    summary: 'Send a heartbeat of a proxy',
    doc: `${proxyDocPrefix} A proxy that sends no heartbeat for two minutes is treated as disconnected.`,
    example: { body: example },
  }),
  disconnect: defineOperation({
    ...proxyIdDeclaration,
    id: 'disconnectProxy',
    path: '/proxy/disconnect',
    summary: 'Report that a proxy disconnects',
    doc: `${proxyDocPrefix} The proxy is then treated as disconnected, and removed from the mesh until it registers again.`,
    example: { body: example },
  }),
  services: defineOperation({
    ...commonDeclaration,
    id: 'followServices',
    method: 'GET',
    path: '/proxy/services',
    summary: 'Follow the services of a cluster',
    doc: `${proxyDocPrefix} Sends a \`state\` event with every service of the cluster and the secrets that the proxy has to check, then \`change\` events. A proxy in the mesh also gets the \`peers\` that may reach it, as a full list whenever they change. The proxy is connected as long as the stream lasts.`,
    query: { proxy_id: string({ doc: 'The proxy.', maxLength: 64 }) },
    answer: string({ doc: '' }),
    answerType: 'text/event-stream',
    withoutEtag: true,
    example: { answer: 'id: 18\nevent: state\ndata: {"revision":18,"services":[]}\n\n' },
  }),
  serviceStatus: defineOperation({
    ...commonDeclaration,
    id: 'reportServices',
    path: '/proxy/service-status',
    summary: 'Report the status of services',
    doc: `${proxyDocPrefix} It makes no revision.`,
    body: {
      proxy_id: proxyId,
      services: list(
        reported(
          object(
            {
              service_id: string({ doc: 'The service.' }),
              status: string({ doc: 'Status, one of the values of `meta.status`.' }),
              certificate_issued_at: optional(time({ doc: 'When its certificate was issued.' })),
            },
            { doc: '', schema: 'ServiceReport' },
          ),
        ),
        { doc: 'At most 1,000.', maxItems: 1000 },
      ),
    },
    answer: refusals,
    example: {
      body: { ...example, services: [{ service_id: 'ch8i4ug6lnn4g9hqv7m0', status: 'active' }] },
      answer: { refused: [] },
    },
  }),
};

/** Operation with which reverse proxies report the requests that they served. */
export const proxyLogs = {
  report: defineOperation({
    ...commonDeclaration,
    id: 'reportRequests',
    path: '/proxy/access-logs',
    summary: 'Report requests',
    doc: `${proxyDocPrefix} Answered when the records are stored. 503 when too many records wait to be stored: send the same report again.`,
    body: {
      proxy_id: proxyId,
      batch: string({
        doc: 'Id of the report, unique for the proxy; a repeated report is stored once.',
        ...{ minLength: 1, maxLength: 100 },
      }),
      records: list(
        reported(
          object(
            { timestamp: time({ doc: 'Time of the request.' }) },
            {
              doc: 'A request, with the members of `GET /api/events/proxy`; only the time is required.',
              schema: 'RequestReport',
            },
          ),
        ),
        { doc: 'At most 5,000.', maxItems: 5000 },
      ),
    },
    answer: refusals,
    example: {
      body: {
        ...{ ...example, batch: 'bern-1/2026-12-02T00:00:00Z/17' },
        records: [
          { timestamp: '2026-12-02T00:00:00.000Z', method: 'GET', host: 'builds.proxy.example.com', path: '/' },
        ],
      },
      answer: { refused: [] },
    },
  }),
};
