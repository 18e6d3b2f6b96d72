import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Engine } from '../../commit/engine.ts';
import type { ProxyTokenOwner } from '../../db/proxy/proxy-tokens.ts';
import { type AccountWatch, createAccountWatch } from '../../features/logs/account-watch.ts';
import { hearProxy, type KnownProxy, leaveProxy, registerAt } from '../../features/proxy/registration.ts';
import { reportServices } from '../../features/proxy/reports.ts';
import { followServices, type ServiceReader } from '../../features/proxy/services.ts';
import { authenticateProxy } from '../../features/proxy/tokens.ts';
import { Unauthenticated, Unavailable } from '../../model/errors.ts';
import { type EventStream, openEventStream } from '../answers/event-stream.ts';
import type { AreaRoutes, Services } from '../area-routes.ts';
import { queryOf } from '../config/request.ts';
import { acceptJson, listOf, nameMember, objectBody } from '../input/bodies.ts';
import { proxyPaths } from './proxy-openapi.ts';

/** How many records one report may have, and how large it may be. */
const mostRecords = 5000;
const mostServices = 1000;
const reportLimit = 8 * 1024 * 1024;
/** How often a stream shows the other servers that its proxy lives. */
const aliveMs = 30_000;

const owners = new WeakMap<FastifyRequest, ProxyTokenOwner>();

/** What reverse proxies request and report. They authenticate with proxy tokens alone. */
export const proxy: AreaRoutes = {
  add: (app, engine, { feeds }) =>
    app.register(async (scope) => {
      scope.addHook('onRequest', async (request) => {
        owners.set(request, await authenticateProxy(engine, request.headers.authorization));
      });
      scope.post('/proxy/register', async (request, reply) =>
        reply
          .header('cache-control', 'no-store')
          .send(await registerAt(engine, ownerOf(request), objectBody(request.body))),
      );
      scope.post('/proxy/heartbeat', async (request, reply) => {
        await hearProxy(engine, ownerOf(request), objectBody(request.body));
        return reply.send();
      });
      scope.post('/proxy/disconnect', async (request, reply) => {
        await leaveProxy(engine, ownerOf(request), objectBody(request.body));
        return reply.send();
      });
      scope.post('/proxy/service-status', async (request, reply) => {
        const body = objectBody(request.body);
        const services = listOf(body, 'services', mostServices);
        const known = await hearProxy(engine, ownerOf(request), body);
        return reply.send({ refused: await reportServices(engine, known, services) });
      });
      scope.register(async (logs) => addLogs(logs, engine, feeds));
      addStream(scope, engine);
    }),
  paths: proxyPaths,
};

function addLogs(scope: FastifyInstance, engine: Engine, feeds: Services['feeds']): void {
  // Strangers make up what they ask for: a character of theirs must not keep a whole report out.
  acceptJson(scope, 'replaced');
  scope.post('/proxy/access-logs', { bodyLimit: reportLimit }, async (request, reply) => {
    const body = objectBody(request.body);
    const records = listOf(body, 'records', mostRecords);
    const batch = nameMember(body, 'batch', 100);
    const { account, id, token } = await hearProxy(engine, ownerOf(request), body);
    const refused = await feeds.takeRequests({ account, reporter: `${token}/${id}`, batch, records });
    return reply.send({ refused });
  });
}

function ownerOf(request: FastifyRequest): ProxyTokenOwner {
  const owner = owners.get(request);
  if (owner === undefined) throw new Error('the route runs without a proxy token');
  return owner;
}

function addStream(scope: FastifyInstance, engine: Engine): void {
  const watch = createAccountWatch(engine);
  const streams = new Set<EventStream>();
  const present = new Map<string, number>();
  scope.addHook('preClose', async () => {
    for (const stream of streams) stream.end();
    watch.close();
  });
  scope.get('/proxy/services', { exposeHeadRoute: false }, async (request, reply) => {
    const owner = ownerOf(request);
    const proxy_id = queryOf(request)['proxy_id'] ?? '';
    const leave = enter(present, `${owner.token}/${proxy_id}`);
    const known = await hearProxy(engine, owner, { proxy_id }).catch((error: unknown) => {
      leave();
      throw error;
    });
    const reader = followServices(engine, known);
    const stream = openEventStream(reply);
    streams.add(stream);
    const alive = setInterval(() => void check(engine, request, proxy_id, stream), aliveMs);
    try {
      await pump(reader, stream, watch, { ...known, isAuthorized: () => isAuthorized(engine, request) });
    } catch (error) {
      // The head is sent already: the stream can only end. The proxy connects again and gets the error.
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      clearInterval(alive);
      streams.delete(stream);
      stream.end();
      // A server that goes leaves this to the time that passes.
      if (leave()) await hearProxy(engine, owner, { proxy_id }, false).catch(() => undefined);
    }
  });
}

/** Counts in one more stream of a proxy. The function it returns counts it out, and says whether it was the last. */
function enter(present: Map<string, number>, proxy: string): () => boolean {
  present.set(proxy, (present.get(proxy) ?? 0) + 1);
  return () => {
    const left = (present.get(proxy) ?? 1) - 1;
    if (left > 0) present.set(proxy, left);
    else present.delete(proxy);
    return left <= 0;
  };
}

/** Keeps the proxy connected, or ends the stream when its token or its cluster is gone. */
async function check(engine: Engine, request: FastifyRequest, proxy_id: string, stream: EventStream): Promise<void> {
  try {
    await hearProxy(engine, await authenticateProxy(engine, request.headers.authorization), { proxy_id });
  } catch (error) {
    if (!(error instanceof Unavailable)) stream.end();
  }
}

/** Whether the token of a proxy still lets it in. */
async function isAuthorized(engine: Engine, { headers }: FastifyRequest): Promise<boolean> {
  try {
    await authenticateProxy(engine, headers.authorization);
    return true;
  } catch (error) {
    if (error instanceof Unauthenticated) return false;
    throw error;
  }
}

/** Sends what is new whenever the account moved, until the stream ends. */
async function pump(
  reader: ServiceReader,
  stream: EventStream,
  watch: AccountWatch,
  { account, isAuthorized }: Pick<KnownProxy, 'account'> & { isAuthorized(): Promise<boolean> },
): Promise<void> {
  let wake = (): void => undefined;
  let moved = true;
  const unfollow = watch.follow(account, {
    wake() {
      moved = true;
      wake();
    },
    gone: () => stream.end(),
  });
  stream.signal.addEventListener('abort', () => wake());
  try {
    while (!stream.signal.aborted) {
      moved = false;
      const message = await reader.next();
      if (message !== undefined) await stream.send([message]);
      if (moved || stream.signal.aborted) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      // What is new may be secret, and the token may be what went.
      if (!(await isAuthorized())) stream.end();
    }
  } finally {
    unfollow();
  }
}
