import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Call, Engine } from '../../commit/engine.ts';
import { readSyncLogs, recordSyncRun } from '../../features/logs/sync-logs.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { Kind } from '../../model/declare/kind.ts';
import { syncLogLevels } from '../../model/declare/list-words.ts';
import { storedId } from '../../model/declare/wire-id.ts';
import { NotFound } from '../../model/errors.ts';
import { header, json, type Operation, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import { renewObject } from '../../objects/objects.ts';
import { sendLong, versionsOf } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { keepInstead } from '../idempotency.ts';
import { recoverOutputs } from '../recover.ts';

const directory = '/api/integrations/directory-idp/{id}';
const scim = '/api/integrations/scim-idp/{id}';

/** An entry of the log of a run, as `GET …/logs` shows it. */
const noConnector = {
  id: 1,
  level: 'error',
  timestamp: '2026-01-02T03:04:05.000Z',
  message: 'this version has no connector to directories yet: nothing was synced',
};

/** What integrations with directories do beside being configured. */
export const integrations: AreaRoutes = {
  add(app, engine) {
    addLogs(app, engine, directory, 'DirectoryIntegration');
    addLogs(app, engine, scim, 'ScimIntegration');
    const config = { access: { module: 'idp', operation: 'update' } } as const;
    app.post(routeOf(`${directory}/sync`), { config }, async (request, reply) => {
      const { kind, id, call } = subjectOf(engine, 'DirectoryIntegration', request);
      const { result } = await recordSyncRun(engine, call, kind, id);
      return reply.send({ result });
    });
    app.post(routeOf(`${scim}/token`), { config: { ...config, recover: recoverOutputs } }, async (request, reply) => {
      const { kind, id, call } = subjectOf(engine, 'ScimIntegration', request);
      const ifMatch = versionsOf(request.headers['if-match']);
      const options = { strict: false, ...(ifMatch === undefined ? {} : { ifMatch }) };
      const { outputs } = await renewObject(engine, call, kind, id, options);
      keepInstead(request, {});
      return reply.header('cache-control', 'no-store').send(outputs);
    });
  },
  paths: {
    [`${directory}/sync`]: onOne(`${directory}/sync`, 'post', {
      id: 'syncDirectoryIntegration',
      tag: 'idp',
      summary: 'Ask for a sync of users and groups',
      description: 'The answer says what became of the run; the logs of the integration keep it.',
      answer: json(members({ result: { type: 'string', description: 'What became of the run, in a sentence.' } }), {
        result: noConnector.message,
      }),
      errors: [401, 403, 404, 429, 503],
    }),
    [`${directory}/logs`]: logsOf(`${directory}/logs`, 'DirectoryIntegration'),
    [`${scim}/logs`]: logsOf(`${scim}/logs`, 'ScimIntegration'),
    [`${scim}/token`]: onOne(`${scim}/token`, 'post', {
      id: 'renewScimIntegrationToken',
      tag: 'idp',
      summary: 'Make a new token for the provider',
      description: 'The old token stops working. The new one is shown this once.',
      parameters: [header('IfMatch')],
      answer: json(members({ auth_token: { type: 'string', description: 'The token.' } }), {
        auth_token: 'nbs_07LD2NdQx4kZ5sT8vWb3yHc6jRf9mGp0',
      }),
      errors: [401, 403, 404, 412, 429, 503],
    }),
  },
};

/** A path template as the router spells it. */
function routeOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

interface Subject {
  readonly kind: Kind;
  readonly id: string;
  readonly call: Call;
}

/** What a request is about. Throws `NotFound` for an id that cannot be one. */
function subjectOf(engine: Engine, name: string, request: FastifyRequest): Subject {
  const kind = engine.registry.get(name);
  // Every route of this file names the parameter.
  const { id: segment } = request.params as { readonly id: string };
  const id = storedId(kind, segment);
  if (id === undefined) throw new NotFound(`${kind.name.toLowerCase()} ${segment} not found`);
  return { kind, id, call: callOf(request) };
}

function addLogs(app: FastifyInstance, engine: Engine, path: string, name: string): void {
  const config = { access: { module: 'idp', operation: 'read' } } as const;
  app.get(routeOf(`${path}/logs`), { config }, async (request, reply): Promise<FastifyReply> => {
    const { kind, id, call } = subjectOf(engine, name, request);
    const entries = await readSyncLogs(engine, call, kind, id);
    const body: Json = entries.map((entry) => ({ ...entry, timestamp: entry.timestamp.toISOString() }));
    return sendLong(request, reply, { version: entries[0]?.id ?? 0, body });
  });
}

function logsOf(path: string, kind: string): JsonObject {
  const entry = members({
    id: { type: 'integer', description: 'The number of the entry; numbers grow.' },
    level: { type: 'string', enum: syncLogLevels, description: 'How grave it is.' },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
    message: { type: 'string', description: 'What happened.' },
  });
  return onOne(path, 'get', {
    id: `list${kind}Logs`,
    tag: 'idp',
    summary: 'List what runs of the integration had to say',
    description: 'Newest first; the newest 1,000 entries are kept.',
    parameters: [header('IfNoneMatch')],
    answer: json({ type: 'array', items: entry }, [noConnector]),
    headers: ['ETag'],
    unchanged: true,
    errors: [401, 403, 404, 429, 503],
  });
}

function members(properties: JsonObject): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties };
}

function onOne(path: string, method: 'get' | 'post', spec: Operation): JsonObject {
  const parameter = { description: 'The id of the integration.', schema: { type: 'integer' } };
  return { ...pathParameters(path, () => parameter), [method]: operation(spec) };
}
