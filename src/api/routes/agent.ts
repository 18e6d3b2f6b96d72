import type { FastifyInstance, FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../../commit/commit.ts';
import type { Engine } from '../../commit/engine.ts';
import type { AgentRequest, PeerSession } from '../../features/peers/peering.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { NotAllowed } from '../../model/errors.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import type { AreaRoutes, Services } from '../area-routes.ts';
import { scoped } from '../authenticate.ts';
import { listOf, nameMember, objectBody, parseJson } from '../input/bodies.ts';
import { textOfBody } from '../input/utf8.ts';
import { agentPaths } from './agent-openapi.ts';
import { agentServicePaths } from './agent-service-openapi.ts';
import { addServiceRoutes } from './agent-services.ts';

/** How large what agents send may be. */
const bodyLimit = 256 * 1024;
const trafficLimit = 4 * 1024 * 1024;
/** How many records one report of traffic may have. */
const mostRecords = 2000;

/** The bytes of bodies, which proofs sign. */
const bodies = new WeakMap<FastifyRequest, Uint8Array>();

/** What agents ask for. The service decides everything; these routes are one way to it. */
export const agent: AreaRoutes = {
  add: (app, engine, services) =>
    app.register(async (scope) => {
      keepBytes(scope);
      const { peering } = services;
      const sessionAnswer = (to: PeerSession): JsonObject => ({
        peer: lowerToResponse(engine.registry, to.peer, to.state.seen({ now: engine.now(), viewer: '' })),
        session: { ...to.session },
        server_time: engine.now(),
      });
      scope.post('/agent/challenge', { bodyLimit }, async (_request, reply) =>
        reply.header('cache-control', 'no-store').send(peering.challenge()),
      );
      scope.post('/agent/enrol', { bodyLimit }, async (request, reply) => {
        const entered = await peering.enrol(agentRequest(request), await callOfUser(request, engine, services));
        return reply.header('cache-control', 'no-store').send(sessionAnswer(entered));
      });
      scope.post('/agent/login', { bodyLimit }, async (request, reply) => {
        const entered = await peering.login(agentRequest(request), await callOfUser(request, engine, services));
        return reply.header('cache-control', 'no-store').send(sessionAnswer(entered));
      });
      scope.post('/agent/traffic', { bodyLimit: trafficLimit }, async (request, reply) => {
        const { peer, state } = await peering.authenticate(agentRequest(request));
        const body = objectBody(request.body);
        const records = listOf(body, 'records', mostRecords);
        const batch = nameMember(body, 'batch', 100);
        return reply.send(await services.feeds.takeTraffic(state, peer, { batch, records }));
      });
      scope.post('/agent/facts', { bodyLimit }, async (request, reply) => {
        const peer = await peering.authenticate(agentRequest(request));
        await peering.report(peer, objectBody(request.body));
        return reply.send();
      });
      addServiceRoutes(scope, peering, bodyLimit, (request) => peering.authenticate(agentRequest(request)));
    }),
  paths: { ...agentPaths, ...agentServicePaths },
};

/** Keeps the bytes of each body beside what it says: proofs sign bytes. */
function keepBytes(scope: FastifyInstance): void {
  scope.removeContentTypeParser('application/json');
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    // `parseAs` makes it one.
    const buffer = bytes as Buffer;
    bodies.set(request, buffer);
    try {
      done(null, buffer.length === 0 ? undefined : parseJson(textOfBody(buffer)));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** A request as the service wants it. */
export function agentRequest(request: FastifyRequest): AgentRequest {
  const proof = request.headers['heddle-proof'];
  const { authorization } = request.headers;
  return {
    method: request.method,
    path: request.url,
    body: bodies.get(request) ?? new Uint8Array(),
    // A body that is an object came as JSON.
    ...(isObject(request.body) ? { content: request.body as JsonObject } : {}),
    proof: typeof proof === 'string' ? proof : undefined,
    authorization,
    address: request.ip,
  };
}

/** The user whose token comes along, if one does. */
async function callOfUser(request: FastifyRequest, engine: Engine, { authenticator }: Services) {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization === '') return undefined;
  const call = await scoped(request, engine, await authenticator.authenticate(authorization));
  if (call.planOnly === true) throw new NotAllowed(planOnlyRefusal);
  return call;
}
