import Fastify, { type FastifyInstance, type HTTPMethods } from 'fastify';
import type { Reader } from '../documents/reader.ts';
import type { Engine } from '../engine/engine.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import { lowerToOpenApi } from '../model/lower/openapi.ts';
import { createAuthHook } from './authenticate.ts';
import { acceptJson } from './bodies.ts';
import { addConfigRoutes } from './config-routes.ts';
import { createErrorHandler, type ErrorBody } from './errors.ts';
import { addKindRoutes } from './kind-routes.ts';
import { addMetrics } from './metrics.ts';

/** What the HTTP interface is built from. */
export interface ApiOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly authenticator: Authenticator;
  readonly version: string;
  /** Paths among `/metrics` and `/api/openapi.json` that answer without credentials. */
  readonly openEndpoints: readonly string[];
  /** Told about defects; the caller of the API only sees a 500. */
  report(error: unknown, place: string): void;
}

/** Builds the HTTP interface without listening. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { engine } = options;
  const app = Fastify({ logger: false, bodyLimit: 1024 * 1024, maxParamLength: 500, forceCloseConnections: 'idle', requestTimeout: 120_000 });
  const methods = collectMethods(app);
  app.decorateRequest('call', undefined);
  app.setErrorHandler(createErrorHandler((error, request) => options.report(error, `${request.method} ${request.url}`)));
  app.setNotFoundHandler((request, reply) => reply.code(404).send(errorBody(404, `${request.method} ${request.url.split('?')[0]} not found`)));
  app.addHook('onRequest', createAuthHook(options.authenticator));
  acceptJson(app);
  addMetrics(app, engine, options.openEndpoints.includes('/metrics'));
  addHealth(app, engine);
  addKindRoutes(app, engine);
  await app.register((scope) => addConfigRoutes(scope, { engine, reader: options.reader, version: options.version }));
  const description = JSON.stringify(lowerToOpenApi(engine.registry, { version: options.version }));
  app.get('/api/openapi.json', { config: { open: options.openEndpoints.includes('/api/openapi.json') } }, async (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(description),
  );
  refuseOtherMethods(app, methods);
  await app.ready();
  return app;
}

/** `/healthz` says that the process answers, `/readyz` that the database does too. */
function addHealth(app: FastifyInstance, engine: Engine): void {
  app.get('/healthz', { config: { open: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { open: true } }, async () => {
    await engine.database.ping();
    return { status: 'ready' };
  });
}

const allMethods: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];

function collectMethods(app: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  app.addHook('onRoute', (route) => {
    const known = methods.get(route.url) ?? new Set();
    for (const method of [route.method].flat()) known.add(method);
    methods.set(route.url, known);
  });
  return methods;
}

/** A known path with a wrong method says so, in the one shape of errors, and which methods there are. */
function refuseOtherMethods(app: FastifyInstance, methods: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, known] of [...methods]) {
    const others = allMethods.filter((method) => !known.has(method));
    const allow = [...known].sort().join(', ');
    if (others.length === 0) continue;
    app.route({
      method: others,
      url,
      config: { open: true },
      handler: (request, reply) => reply.code(405).header('allow', allow).send(errorBody(405, `${request.method} is not possible here; use ${allow}`)),
    });
  }
}

function errorBody(code: number, message: string): ErrorBody {
  return { message, code };
}
