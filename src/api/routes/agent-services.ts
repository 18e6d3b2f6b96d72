import type { FastifyInstance, FastifyRequest } from 'fastify';
import { exposedUntil } from '../../features/peers/exposure/exposure.ts';
import type { Agent, Peering } from '../../features/peers/peering.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { asKind } from '../../model/state/stored.ts';
import { objectBody } from '../input/bodies.ts';

/** Where what a peer exposes is found. */
const path = '/agent/services/:serviceId';

/** Services that peers expose: how they come, stay and go. */
export function addServiceRoutes(
  scope: FastifyInstance,
  peering: Peering,
  bodyLimit: number,
  authenticate: (request: FastifyRequest) => Promise<Agent>,
): void {
  const idOf = ({ params }: FastifyRequest): string => String((params as JsonObject)['serviceId']);
  scope.post('/agent/services', { bodyLimit }, async (request, reply) => {
    const agent = await authenticate(request);
    const { object } = await peering.expose(agent, objectBody(request.body));
    return reply.header('cache-control', 'no-store').send(shown(object));
  });
  scope.post(`${path}/renew`, { bodyLimit }, async (request, reply) => {
    const { object } = await peering.renewExposed(await authenticate(request), idOf(request));
    return reply.header('cache-control', 'no-store').send(shown(object));
  });
  scope.delete(path, async (request, reply) => {
    await peering.withdraw(await authenticate(request), idOf(request));
    return reply.send();
  });
}

/** What the peer has to know of its service. */
function shown(object: StoredObject): JsonObject {
  const service = asKind(object, 'ProxyService');
  const { id, spec, derived } = service;
  const port = derived.listen_port ?? 0;
  return {
    ...{ id, domain: spec.domain ?? '', mode: spec.mode ?? '' },
    ...(port === 0 ? {} : { listen_port: port }),
    expires_at: exposedUntil(service) ?? '',
  };
}
