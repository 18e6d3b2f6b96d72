import { optional, reported, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, object, string } from '../model/schema/field.ts';
import { tunnelKey } from './tunnel-key.ts';

const proxyId = string({
  doc: 'By which the proxy calls itself; stays the same when it starts again.',
  ...{ minLength: 1, maxLength: 64 },
});

const refusals = object(
  {
    refused: list(
      object(
        { index: integer({ doc: 'Its place.' }), reason: string({ doc: 'What is wrong with it.' }) },
        { doc: '', schema: 'RefusedItem' },
      ),
      { doc: 'What was not taken; everything else was.' },
    ),
  },
  { doc: 'What was not taken of a report.', schema: 'ProxyReportAnswer' },
);

const outside = 'Not a part of the management interface: reverse proxies use it, with `Authorization: Bearer nbx_…`.';

const facts = {
  method: 'POST',
  access: { open: 'wants a proxy token' },
  tag: 'proxy',
  errors: ['unauthenticated', 'not_found'],
} as const;

const sign = { ...facts, body: { proxy_id: proxyId }, bodySchema: 'ProxySign' } as const;
const example = { proxy_id: 'bern-1' };

/** Operations that reverse proxies call to register, to follow their services and to report status. */
export const proxy = {
  register: defineOperation({
    ...facts,
    id: 'registerProxy',
    path: '/proxy/register',
    summary: 'Register a proxy',
    doc: `${outside} The cluster of the address is there from then on, with these abilities.`,
    body: {
      proxy_id: proxyId,
      address: string({ doc: 'The name below which its cluster offers services.', minLength: 1, maxLength: 255 }),
      version: optional(string({ doc: 'The version of the proxy.', maxLength: 64 })),
      supports_custom_ports: optional(boolean({ doc: 'Whether services may choose their port.' })),
      require_subdomain: optional(boolean({ doc: 'Whether services need a name below the address.' })),
      supports_reputation: optional(boolean({ doc: 'Whether it can turn away addresses of bad repute.' })),
      private: optional(boolean({ doc: 'Whether it offers private services.' })),
      wg_pub_key: optional(
        string({
          doc: 'The public key of its tunnel (X25519, base64): with it the proxy has an address in the mesh.',
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
        heartbeat_interval: integer({ doc: 'How often to be heard of, in seconds.' }),
        peer: optional(
          object(
            { id: string({ doc: 'Its id in network maps.' }), ip: string({ doc: 'Its address in the mesh.' }) },
            { doc: '' },
          ),
        ),
      },
      { doc: 'What a proxy learns when it registers.', schema: 'RegisteredProxy' },
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
    ...sign,
    id: 'hearProxy',
    path: '/proxy/heartbeat',
    summary: 'Say that a proxy lives',
    doc: `${outside} Unheard of for two minutes, it counts as gone.`,
    example: { body: example },
  }),
  disconnect: defineOperation({
    ...sign,
    id: 'disconnectProxy',
    path: '/proxy/disconnect',
    summary: 'Say that a proxy goes',
    doc: `${outside} It counts as gone from then on, and has no place in the mesh until it registers again.`,
    example: { body: example },
  }),
  services: defineOperation({
    ...facts,
    id: 'followServices',
    method: 'GET',
    path: '/proxy/services',
    summary: 'Follow the services of a cluster',
    doc: `${outside} A \`state\` event with every service of the cluster and the secrets that it has to check, then \`change\` events. A proxy with a place in the mesh gets the \`peers\` that may reach it, in full whenever they change. While the stream lasts, the proxy is connected.`,
    query: { proxy_id: string({ doc: 'The proxy.', maxLength: 64 }) },
    answer: string({ doc: '' }),
    answerType: 'text/event-stream',
    uncached: true,
    example: { answer: 'id: 18\nevent: state\ndata: {"revision":18,"services":[]}\n\n' },
  }),
  serviceStatus: defineOperation({
    ...facts,
    id: 'reportServices',
    path: '/proxy/service-status',
    summary: 'Say how services are',
    doc: `${outside} It makes no revision.`,
    body: {
      proxy_id: proxyId,
      services: list(
        reported(
          object(
            {
              service_id: string({ doc: 'The service.' }),
              status: string({ doc: 'How it is: the words of `meta.status`.' }),
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
    ...facts,
    id: 'reportRequests',
    path: '/proxy/access-logs',
    summary: 'Report requests',
    doc: `${outside} Answered when they are stored. 503 when too much waits: send the same report again.`,
    body: {
      proxy_id: proxyId,
      batch: string({
        doc: 'Names the report among those of the proxy: repeated, it is stored once.',
        ...{ minLength: 1, maxLength: 100 },
      }),
      records: list(
        reported(
          object(
            { timestamp: time({ doc: 'When the request came.' }) },
            {
              doc: 'A request, with the members of `GET /api/events/proxy`; only the time must be there.',
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
