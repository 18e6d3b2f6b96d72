import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Engine } from '../commit/engine.ts';
import { describeServer } from '../features/integrations/scim/discovery.ts';
import { groups } from '../features/integrations/scim/groups.ts';
import { readListQuery } from '../features/integrations/scim/list.ts';
import { readProjection } from '../features/integrations/scim/project.ts';
import { ScimRefusal, type ScimType } from '../features/integrations/scim/refusal.ts';
import { groupType, messageUrns, type ResourceType, userType } from '../features/integrations/scim/schema.ts';
import { createEndpoint, type ScimCall, type ScimEndpoint } from '../features/integrations/scim/server.ts';
import { createSyncRecorder } from '../features/integrations/scim/sync-recorder.ts';
import { createScimAuthenticator } from '../features/integrations/scim/token.ts';
import { users } from '../features/integrations/scim/users.ts';
import { createBuckets } from '../lib/buckets.ts';
import { codeOf } from '../lib/error-code.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { Conflict } from '../model/errors.ts';
import { messageOf, statusOf } from './errors.ts';
import { objectBody, parseBody } from './input/bodies.ts';
import { createAddressLimit, refuseIfLimited } from './rate-limit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Integration for which an identity provider sends the request. */
    scim: ScimCall | undefined;
  }
}

/**
 * URL prefixes of the interface: the one that identity providers expect, and one below `/api`, for reverse proxies that
 * forward only `/api`.
 */
const mounts = ['/scim/v2', '/api/scim/v2'] as const;

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Routes of the interface. The value states what protects the route. */
export const scimRoutes: Readonly<Record<string, string>> = Object.fromEntries(
  mounts.flatMap((mount) =>
    [mount, `${mount}/*`].flatMap((url) =>
      methods.map(
        (method) =>
          [`${method} ${url}`, 'requires the token of a SCIM integration, which gives access to nothing else'] as const,
      ),
    ),
  ),
);

/** Maximum size of a body, in bytes. A group of some thousand members fits. */
const bodyLimit = 4 * 1024 * 1024;

/** Rate limits: per integration, and per address for requests without a valid token. */
const integrationRateLimit = { perMinute: 6000, burst: 1000 };
const addressRateLimit = { perMinute: 60, burst: 60 };

/** Public URL of the server, and the callback for defects. */
export interface ScimOptions {
  publicUrl(): string;
  report(error: unknown, request: FastifyRequest): void;
}

/** Mounts the SCIM 2.0 interface, through which identity providers push users and groups. */
export async function addScim(app: FastifyInstance, engine: Engine, options: ScimOptions): Promise<void> {
  const recorder = createSyncRecorder(engine);
  app.addHook('onClose', () => recorder.close());
  app.decorateRequest('scim', undefined);
  const endpoints: Endpoints = {
    Users: { type: userType, endpoint: createEndpoint(engine, users, recorder) },
    Groups: { type: groupType, endpoint: createEndpoint(engine, groups, recorder) },
  };
  const authenticate = createScimAuthenticator(engine);
  const anonymousLimit = createAddressLimit(addressRateLimit);
  const buckets = createBuckets(integrationRateLimit);
  for (const mount of mounts) {
    await app.register(async (scope) => {
      acceptScim(scope);
      scope.setErrorHandler((error, request, reply) => sendFailure(error, request, reply, options));
      scope.addHook('onRequest', async (request, reply) => {
        void reply.header('cache-control', 'no-store');
        const known = await authenticate(request.headers.authorization).catch(async (error: unknown) => {
          if (error instanceof ScimRefusal && error.statusCode === 401) await anonymousLimit(request, reply);
          throw error;
        });
        request.scim = { ...known, base: `${options.publicUrl()}${mount}` };
        const wait = buckets.take(`${known.account} ${known.integration}`, performance.now());
        refuseIfLimited(reply, wait, `too many requests: ${integrationRateLimit.perMinute} a minute are allowed`);
      });
      scope.addHook('onResponse', async (request, reply) => {
        const [what = ''] = pathOf(request);
        const resource = Object.hasOwn(endpoints, what) ? what.toLowerCase() : 'other';
        engine.observer.report({ what: 'scim', resource, method: request.method, status: reply.statusCode });
      });
      for (const url of [mount, `${mount}/*`])
        scope.route({
          ...{ method: [...methods], url, bodyLimit },
          config: { ownQuery: true, ownRate: true },
          handler: (request, reply) => answer(endpoints, request, reply),
        });
    });
  }
}

interface Endpoints {
  readonly Users: Mounted;
  readonly Groups: Mounted;
}

interface Mounted {
  readonly type: ResourceType;
  readonly endpoint: ScimEndpoint;
}

function acceptScim(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  const types = ['application/scim+json', 'application/json'];
  scope.addContentTypeParser(types, { parseAs: 'buffer' }, (_request, bytes, done) => {
    if (bytes.length === 0) {
      done(null, undefined);
      return;
    }
    try {
      done(null, parseBody(bytes));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

async function answer(endpoints: Endpoints, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const call = callOf(request);
  const path = pathOf(request);
  const [what = '', id, ...rest] = path;
  const query = queryOf(request);
  if (what === 'Me') throw new ScimRefusal(501, 'a token of an integration belongs to no user, so there is no /Me');
  if (what === 'Bulk') throw new ScimRefusal(501, 'bulk operations are not supported; send the operations one by one');
  const found = what === 'Users' ? endpoints.Users : what === 'Groups' ? endpoints.Groups : undefined;
  if (found === undefined || rest.length > 0) {
    const described = describeServer(call.base, path, query['filter'] !== undefined);
    if (described === undefined)
      throw new ScimRefusal(404, `${request.method} ${path.join('/').slice(0, 200)} not found`);
    requireMethod(request, reply, ['GET']);
    return send(reply, 200, described);
  }
  if (id === undefined) return await answerCollection(found, call, request, reply);
  if (id === '.search') {
    requireMethod(request, reply, ['POST']);
    return send(reply, 200, await found.endpoint.list(call, readListQuery(found.type, objectBody(request.body))));
  }
  return await answerResource(found.endpoint, call, id, request, reply);
}

async function answerCollection(
  { endpoint, type }: Mounted,
  call: ScimCall,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const query = queryOf(request);
  requireMethod(request, reply, ['GET', 'POST']);
  if (request.method !== 'POST') return send(reply, 200, await endpoint.list(call, readListQuery(type, query)));
  const projection = readProjection(query['attributes'], query['excludedAttributes']);
  const { id, resource, version } = await endpoint.create(call, objectBody(request.body), projection);
  void reply.header('location', `${call.base}${type.endpoint}/${id}`);
  return send(reply, 201, resource, version);
}

async function answerResource(
  endpoint: ScimEndpoint,
  call: ScimCall,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  requireMethod(request, reply, ['GET', 'PUT', 'PATCH', 'DELETE']);
  const query = queryOf(request);
  const projection = readProjection(query['attributes'], query['excludedAttributes']);
  const ifMatch = versionsIn(request.headers['if-match']);
  if (request.method === 'DELETE') {
    await endpoint.remove(call, id, ifMatch);
    return reply.code(204).send();
  }
  if (request.method === 'PUT') {
    const { resource, version } = await endpoint.replace(call, id, objectBody(request.body), { ifMatch, projection });
    return send(reply, 200, resource, version);
  }
  if (request.method === 'PATCH') {
    const changed = await endpoint.patch(call, id, objectBody(request.body), { ifMatch, projection });
    return changed === undefined ? reply.code(204).send() : send(reply, 200, changed.resource, changed.version);
  }
  const { resource, version } = await endpoint.read(call, id, projection);
  return send(reply, 200, resource, version);
}

function send(reply: FastifyReply, status: number, body: JsonObject, version?: string): FastifyReply {
  if (version !== undefined) void reply.header('etag', version);
  return reply.code(status).type('application/scim+json; charset=utf-8').send(body);
}

function callOf({ scim }: FastifyRequest): ScimCall {
  if (scim === undefined) throw new Error('a request of an identity provider runs without authentication');
  return scim;
}

function pathOf({ params }: FastifyRequest): readonly string[] {
  // The route declares this parameter.
  const { '*': rest = '' } = params as { readonly '*'?: string };
  return rest.split('/').filter((part) => part !== '');
}

function queryOf({ query }: FastifyRequest): JsonObject {
  const pairs = Object.entries(query as Readonly<Record<string, unknown>>);
  // Of a repeated parameter, the first value counts.
  return Object.fromEntries(pairs.map(([name, value]): [string, Json] => [name, String([value].flat()[0])]));
}

function versionsIn(header: string | undefined): readonly string[] | undefined {
  return header?.split(',').map((one) => one.trim());
}

function requireMethod(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): void {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  if (allowed.includes(method)) return;
  void reply.header('allow', allowed.join(', '));
  throw new ScimRefusal(405, `${request.method} is not possible here; use ${allowed.join(', ')}`);
}

/** Answers a failed request in the shape of RFC 7644, section 3.12. */
function sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply, { report }: ScimOptions): void {
  const status = scimStatusOf(error);
  if (status === 500) report(error, request);
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  const wait = error instanceof ScimRefusal ? error.retryAfter : undefined;
  if (wait !== undefined) void reply.header('retry-after', String(wait));
  else if (status === 503 && !reply.hasHeader('retry-after')) void reply.header('retry-after', '5');
  const scimType = scimTypeOf(error, status);
  void send(reply, status, {
    schemas: [messageUrns.error],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: detailOf(error, status, request),
  });
}

function detailOf(error: unknown, status: number, request: FastifyRequest): string {
  if (status === 500) return 'internal server error';
  if (status === 413)
    return `the body is too large; send at most ${bodyLimit / 1024 / 1024} MiB, and large groups in parts`;
  if (codeOf(error) === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return 'this content type is not accepted; send `Content-Type: application/scim+json`';
  return messageOf(error, request);
}

/** Returns the HTTP status of an error. In SCIM, all invalid input is 400. */
function scimStatusOf(error: unknown): number {
  if (error instanceof ScimRefusal) return error.statusCode;
  const status = statusOf(error);
  return status === 422 ? 400 : status;
}

function scimTypeOf(error: unknown, status: number): ScimType | undefined {
  if (error instanceof ScimRefusal) return error.scimType;
  if (error instanceof Conflict) return error.reason === 'taken' ? 'uniqueness' : undefined;
  if (status !== 400) return undefined;
  return statusOf(error) === 422 ? 'invalidValue' : 'invalidSyntax';
}
