import type { JsonObject } from '../../lib/json.ts';
import { serviceModes } from '../../model/declare/service-words.ts';
import { json, operation } from '../../model/lower/openapi/operation.ts';
import { proofParameter } from './agent-openapi.ts';

const text = (description: string): JsonObject => ({ type: 'string', description });
const port = (description: string): JsonObject => ({ type: 'integer', minimum: 1, maximum: 65535, description });
const mode = { type: 'string', enum: serviceModes, description: 'What is forwarded.' };

const outside =
  'Not a part of the management interface: machines use it. `Authorization: Peer <session>`. The account has to allow it by `peer_expose_enabled` and `peer_expose_groups`.';
const tag = 'agent';

const exposed = json(
  {
    type: 'object',
    required: ['id', 'domain', 'mode', 'expires_at'],
    properties: {
      ...{ id: text('The id of the service.'), domain: text('Where it is reached.'), mode },
      listen_port: port('The port of the cluster, for every mode but `http`.'),
      expires_at: { type: 'string', format: 'date-time', description: 'When it ends unless it is renewed.' },
    },
  },
  {
    ...{ id: 'ch8i4ug6lnn4g9hqv7ng', domain: 'runner-7-8080.proxy.example.com', mode: 'http' },
    expires_at: '2026-12-02T00:10:00.000Z',
  },
);

const serviceId = {
  ...{ name: 'serviceId', in: 'path', required: true, description: 'The id of the service.' },
  schema: { type: 'string' },
};

/** How peers expose services, as OpenAPI says it. */
export const agentServicePaths: JsonObject = {
  '/agent/services': {
    post: operation({
      ...{ id: 'exposeService', tag, summary: 'Expose a local service', open: true },
      description: `${outside} A connected peer offers what it serves locally through the reverse proxy, for ten minutes unless it renews that. Asked for the same again, it goes on.`,
      parameters: [proofParameter],
      body: json(
        {
          type: 'object',
          required: ['port'],
          properties: {
            ...{ port: port('Where the service listens on the machine.'), mode },
            name: text('The first label of the domain; made of the name of the peer and the port unless given.'),
            cluster: text('The address of the cluster of proxies; one of the account unless given.'),
            password: text('Grants access to everyone who knows it. Without password and PIN everyone has access.'),
            pin: text('Grants access to everyone who knows it.'),
          },
        },
        { port: 8080, password: 'correct horse' },
      ),
      answer: exposed,
      uncached: true,
      errors: [400, 401, 403, 409, 413, 415, 422, 429, 503],
    }),
  },
  '/agent/services/{serviceId}/renew': {
    parameters: [serviceId],
    post: operation({
      ...{ id: 'renewService', tag, summary: 'Go on exposing a service', open: true },
      description: `${outside} The ten minutes begin anew.`,
      parameters: [proofParameter],
      answer: exposed,
      uncached: true,
      errors: [401, 403, 404, 429, 503],
    }),
  },
  '/agent/services/{serviceId}': {
    parameters: [serviceId],
    delete: operation({
      ...{ id: 'withdrawService', tag, summary: 'Stop exposing a service', open: true },
      description: 'Not a part of the management interface: machines use it. `Authorization: Peer <session>`.',
      parameters: [proofParameter],
      errors: [401, 403, 404, 429, 503],
    }),
  },
};
