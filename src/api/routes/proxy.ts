import type { FastifyRequest } from 'fastify';
import type { Engine } from '../../commit/engine.ts';
import type { ProxyTokenOwner } from '../../db/proxy/proxy-tokens.ts';
import { recordHeartbeat, registerProxyOfOwner, unregisterProxy } from '../../features/proxy/registration.ts';
import { reportServices } from '../../features/proxy/reports.ts';
import { followServices } from '../../features/proxy/services.ts';
import { authenticateProxy } from '../../features/proxy/tokens.ts';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { proxyLogs, proxy as proxyOperations } from '../../operations/proxy.ts';
import { createAccountStreams } from '../answers/account-streams.ts';
import type { EventStream } from '../answers/event-stream.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { acceptJson } from '../input/bodies.ts';
import { implement } from '../operations/implement.ts';

/** Maximum size of one report of the states of services, in bytes. */
const statusBodyLimit = 1024 * 1024;
/** Maximum size of one report of requests, in bytes. */
const reportBodyLimit = 8 * 1024 * 1024;
/**
 * Interval at which an open stream records that its proxy is connected, in milliseconds. Other servers read this
 * record.
 */
const heartbeatIntervalMs = 30_000;

const owners = new WeakMap<FastifyRequest, ProxyTokenOwner>();

const requests = implement(proxyOperations, (engine, _services, app) => {
  const streams = createAccountStreams(app, engine);
  const present = new Map<string, number>();
  return {
    register: ({ request, body }) => registerProxyOfOwner(engine, ownerOf(request), body),
    async heartbeat({ request, body }) {
      await recordHeartbeat(engine, ownerOf(request), body.proxy_id);
    },
    disconnect: ({ request, body }) => unregisterProxy(engine, ownerOf(request), body.proxy_id),
    serviceStatus: {
      bodyLimit: statusBodyLimit,
      async handle({ request, body }) {
        const known = await recordHeartbeat(engine, ownerOf(request), body.proxy_id);
        return { refused: await reportServices(engine, known, body.services) };
      },
    },
    async services({ request, reply, query: { proxy_id: id } }) {
      const owner = ownerOf(request);
      const leave = countStream(present, `${owner.token}/${id}`);
      const known = await recordHeartbeat(engine, owner, id).catch((error: unknown) => {
        leave();
        throw error;
      });
      const reader = followServices(engine, known);
      const stream = streams.open(reply);
      const alive = setInterval(() => void recordConnected(engine, request, id, stream), heartbeatIntervalMs);
      try {
        await streams.follow(stream, known.account, async () => {
          // The next message may contain secrets, and the change may have been the deletion of the token.
          if (!(await isAuthorized(engine, request))) return stream.end();
          const message = await reader.next();
          if (message !== undefined) await stream.send([message]);
        });
      } finally {
        clearInterval(alive);
        // This fails when the server is stopping. The proxy then counts as disconnected after some time.
        if (leave()) await recordHeartbeat(engine, owner, id, false).catch(() => undefined);
      }
      return reply;
    },
  };
});

const logs = implement(proxyLogs, (engine, { feeds }) => ({
  report: {
    bodyLimit: reportBodyLimit,
    async handle({ request, body: { proxy_id, batch, records } }) {
      const { account, id, token } = await recordHeartbeat(engine, ownerOf(request), proxy_id);
      return { refused: await feeds.storeRequests({ account, reporter: `${token}/${id}`, batch, records }) };
    },
  },
}));

/** Routes for reverse proxies, which authenticate with proxy tokens only. */
export const proxy: AreaRoutes = {
  add: (app, engine, services) =>
    app.register(async (scope) => {
      scope.addHook('onRequest', async (request) => {
        owners.set(request, await authenticateProxy(engine, request.headers.authorization));
      });
      requests.add(scope, engine, services);
      await scope.register(async (inner) => {
        // The logged requests contain text of strangers: a single character that cannot be stored must not make a whole
        // report fail.
        acceptJson(inner, 'replaced');
        logs.add(inner, engine, services);
      });
    }),
  operations: [...requests.operations, ...logs.operations],
};

function ownerOf(request: FastifyRequest): ProxyTokenOwner {
  const owner = owners.get(request);
  if (owner === undefined) throw new Error('the route runs without a proxy token');
  return owner;
}

/**
 * Counts an open stream of a proxy. The returned function removes it from the count, and returns whether it was the
 * last one.
 */
function countStream(present: Map<string, number>, proxy: string): () => boolean {
  present.set(proxy, (present.get(proxy) ?? 0) + 1);
  return () => {
    const left = (present.get(proxy) ?? 1) - 1;
    if (left > 0) present.set(proxy, left);
    else present.delete(proxy);
    return left <= 0;
  };
}

/** Records that the proxy is connected. Ends the stream when its token or its cluster no longer exists. */
async function recordConnected(
  engine: Engine,
  request: FastifyRequest,
  id: string,
  stream: EventStream,
): Promise<void> {
  try {
    await recordHeartbeat(engine, await authenticateProxy(engine, request.headers.authorization), id);
  } catch (error) {
    if (!(error instanceof Unavailable)) stream.end();
  }
}

/** Whether the token of a proxy is still valid. */
async function isAuthorized(engine: Engine, { headers }: FastifyRequest): Promise<boolean> {
  try {
    await authenticateProxy(engine, headers.authorization);
    return true;
  } catch (error) {
    if (error instanceof Unauthenticated) return false;
    throw error;
  }
}
