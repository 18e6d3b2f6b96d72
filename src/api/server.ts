import Fastify, { type FastifyInstance } from 'fastify';
import type { Reader } from '../documents/reader.ts';
import type { Engine } from '../engine/engine.ts';
import { plainRules, type SourceRules } from '../engine/source-admin.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import { lowerToOpenApi } from '../model/lower/openapi.ts';
import type { RateLimit } from '../model/means.ts';
import { areas } from './area-routes.ts';
import { createAuthHook } from './authenticate.ts';
import { acceptJson } from './bodies.ts';
import { addConfigRoutes } from './config/routes.ts';
import { drainConnections } from './drain.ts';
import { createErrorHandler } from './errors.ts';
import { addEtags } from './etags.ts';
import { addIdempotency } from './idempotency.ts';
import { addKindRoutes } from './kind-routes.ts';
import { addMetrics } from './metrics.ts';
import { createPlanLimit, createRateLimit } from './rate-limit.ts';
import { renderReference } from './reference-page.ts';
import { collectMethods, refuseBrokenRequest, refuseUnknown, refuseUnknownPaths } from './refusals.ts';

/** What the HTTP interface is built from. */
export interface ApiOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  readonly authenticator: Authenticator;
  readonly version: string;
  /** Paths among `/metrics` and `/api/openapi.json` that answer without credentials. */
  readonly openEndpoints: readonly string[];
  readonly rateLimit?: RateLimit | 'off';
  /** Of one account, what makes a plan. */
  readonly planRateLimit?: RateLimit | 'off';
  /** What is allowed about sources; absent: nothing runs them here. */
  readonly sources?: SourceRules;
  /** Told about defects; the caller of the API only sees a 500. */
  report(error: unknown, place: string): void;
}

/** Builds the HTTP interface without listening. */
export async function createApi(options: ApiOptions): Promise<FastifyInstance> {
  const { engine, reader, version } = options;
  const planLimit = createPlanLimit(options.planRateLimit ?? 'off');
  const app = Fastify({
    logger: false,
    bodyLimit: 1024 * 1024,
    routerOptions: { maxParamLength: 500 },
    forceCloseConnections: 'idle',
    requestTimeout: 120_000,
    // Whoever stops the server waits for its requests, the last ones included.
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => refuseUnknown(request, reply),
    clientErrorHandler: refuseBrokenRequest,
  });
  const refuseOtherMethods = collectMethods(app);
  drainConnections(app);
  app.decorateRequest('call', undefined);
  app.setErrorHandler(
    createErrorHandler((error, request) => options.report(error, `${request.method} ${request.url}`)),
  );
  refuseUnknownPaths(app);
  app.addHook('onRequest', createAuthHook(options.authenticator, engine.snapshots));
  if (options.rateLimit !== undefined && options.rateLimit !== 'off')
    app.addHook('onRequest', createRateLimit(options.rateLimit));
  addEtags(app);
  addIdempotency(app, engine, (error, request) => options.report(error, `${request.method} ${request.url}`));
  acceptJson(app);
  addMetrics(app, engine, options.openEndpoints.includes('/metrics'));
  addHealth(app, engine);
  addKindRoutes(app, engine);
  for (const area of areas) area.add(app, engine);
  await app.register((scope) =>
    addConfigRoutes(scope, { engine, reader, version, planLimit, sources: options.sources ?? plainRules }),
  );
  addDescription(app, options);
  refuseOtherMethods();
  await app.ready();
  return app;
}

/** The interface described for programs and for people. */
function addDescription(app: FastifyInstance, { engine, version, openEndpoints }: ApiOptions): void {
  const extraPaths = Object.assign({}, ...areas.map(({ paths }) => paths));
  const description = lowerToOpenApi(engine.registry, { version, extraPaths, edition: engine.means.edition });
  const [text, page] = [JSON.stringify(description), renderReference(description)];
  app.get(
    '/api/openapi.json',
    { config: { open: openEndpoints.includes('/api/openapi.json') } },
    async (_request, reply) => reply.header('content-type', 'application/json; charset=utf-8').send(text),
  );
  app.get('/docs', { config: { open: openEndpoints.includes('/docs') } }, async (_request, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(page),
  );
}

/** `/healthz` says that the process answers, `/readyz` that the database does too. */
function addHealth(app: FastifyInstance, engine: Engine): void {
  app.get('/healthz', { config: { open: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { config: { open: true } }, async () => {
    await engine.database.ping();
    return { status: 'ready' };
  });
}
