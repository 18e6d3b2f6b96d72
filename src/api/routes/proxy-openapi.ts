import type { JsonObject } from '../../lib/json.ts';
import { json, operation, textual } from '../../model/lower/openapi/operation.ts';

const tag = 'proxy';
const outside = 'Not a part of the management interface: reverse proxies use it, with `Authorization: Bearer nbx_…`.';
const errors = [400, 401, 404, 413, 415, 422, 503];

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function flag(description: string): JsonObject {
  return { type: 'boolean', description };
}

function object(properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject {
  return { type: 'object', required, properties };
}

function items(of: JsonObject, description: string): JsonObject {
  return { type: 'array', items: of, description };
}

function refusedAnswer(): JsonObject {
  const item = object({
    index: { type: 'integer', description: 'Its place.' },
    reason: text('What is wrong with it.'),
  });
  return json(object({ refused: items(item, 'What was not taken; everything else was.') }), { refused: [] });
}

const proxyId = text('By which the proxy calls itself; stays the same when it starts again.');
const example = { proxy_id: 'bern-1' };

function registration(): JsonObject {
  return operation({
    ...{ id: 'registerProxy', tag, summary: 'Register a proxy', open: true },
    description: `${outside} The cluster of the address is there from then on, with these abilities.`,
    body: json(
      object(
        {
          proxy_id: proxyId,
          address: text('The name below which its cluster offers services.'),
          version: text('The version of the proxy.'),
          supports_custom_ports: flag('Whether services may choose their port.'),
          require_subdomain: flag('Whether services need a name below the address.'),
          supports_reputation: flag('Whether it can turn away addresses of bad repute.'),
          private: flag('Whether it offers private services.'),
          wg_pub_key: text(
            'The public key of its tunnel (X25519, base64): with it the proxy has an address in the mesh.',
          ),
        },
        ['proxy_id', 'address'],
      ),
      { ...example, address: 'proxy.example.com', version: '1.4.0', supports_custom_ports: true },
    ),
    answer: json(
      object(
        {
          proxy_id: proxyId,
          cluster: object({ id: text('The id of the cluster.'), address: text('Its address.') }),
          heartbeat_interval: { type: 'integer', description: 'How often to be heard of, in seconds.' },
          peer: object({ id: text('Its id in network maps.'), ip: text('Its address in the mesh.') }),
        },
        ['proxy_id', 'cluster', 'heartbeat_interval'],
      ),
      { ...example, cluster: { id: 'ch8i4ug6lnn4g9hqv9b0', address: 'proxy.example.com' }, heartbeat_interval: 30 },
    ),
    errors: [...errors.slice(0, 2), 403, ...errors.slice(2, 3), 409, ...errors.slice(3, 5), 422, 429, 503],
  });
}

function sign(id: string, summary: string, description: string): JsonObject {
  return operation({
    ...{ id, tag, summary, open: true, description: `${outside} ${description}` },
    body: json(object({ proxy_id: proxyId }), example),
    errors,
  });
}

function serviceStatus(): JsonObject {
  const status = { type: 'string', description: 'How it is: the words of `meta.status`.' };
  const issued = { type: 'string', format: 'date-time', description: 'When its certificate was issued.' };
  const item = object({ service_id: text('The service.'), status, certificate_issued_at: issued }, [
    'service_id',
    'status',
  ]);
  return operation({
    ...{ id: 'reportServices', tag, summary: 'Say how services are', open: true },
    description: `${outside} It makes no revision.`,
    body: json(object({ proxy_id: proxyId, services: items(item, 'At most 1,000.') }), {
      ...example,
      services: [{ service_id: 'ch8i4ug6lnn4g9hqv7m0', status: 'active' }],
    }),
    answer: refusedAnswer(),
    errors,
  });
}

function accessLogs(): JsonObject {
  const record: JsonObject = {
    type: 'object',
    required: ['timestamp'],
    description: 'A request, with the members of `GET /api/events/proxy`; only the time must be there.',
    properties: { timestamp: { type: 'string', format: 'date-time', description: 'When the request came.' } },
  };
  const batch = {
    ...text('Names the report among those of the proxy: repeated, it is stored once.'),
    maxLength: 100,
  };
  return operation({
    ...{ id: 'reportRequests', tag, summary: 'Report requests', open: true },
    description: `${outside} Answered when they are stored. 503 when too much waits: send the same report again.`,
    body: json(object({ proxy_id: proxyId, batch, records: items(record, 'At most 5,000.') }), {
      ...example,
      batch: 'bern-1/2026-12-02T00:00:00Z/17',
      records: [{ timestamp: '2026-12-02T00:00:00.000Z', method: 'GET', host: 'builds.proxy.example.com', path: '/' }],
    }),
    answer: refusedAnswer(),
    errors,
  });
}

/** What reverse proxies ask for, as OpenAPI says it. */
export const proxyPaths: JsonObject = {
  '/proxy/register': { post: registration() },
  '/proxy/heartbeat': {
    post: sign('hearProxy', 'Say that a proxy lives', 'Unheard of for two minutes, it counts as gone.'),
  },
  '/proxy/disconnect': {
    post: sign(
      'disconnectProxy',
      'Say that a proxy goes',
      'It counts as gone from then on, and has no place in the mesh until it registers again.',
    ),
  },
  '/proxy/services': {
    get: operation({
      ...{ id: 'followServices', tag, summary: 'Follow the services of a cluster', open: true },
      description: `${outside} A \`state\` event with every service of the cluster and the secrets that it has to check, then \`change\` events. A proxy with a place in the mesh gets the \`peers\` that may reach it, in full whenever they change. While the stream lasts, the proxy is connected.`,
      parameters: [
        { name: 'proxy_id', in: 'query', required: true, description: 'The proxy.', schema: { type: 'string' } },
      ],
      answer: textual('text/event-stream', 'id: 18\nevent: state\ndata: {"revision":18,"services":[]}\n\n'),
      errors: [401, 404, 422, 429, 503],
    }),
  },
  '/proxy/service-status': { post: serviceStatus() },
  '/proxy/access-logs': { post: accessLogs() },
};
