import { addProxyToken, readProxyTokens, removeProxyToken } from '../../features/proxy/tokens.ts';
import type { JsonObject } from '../../lib/json.ts';
import { header, json, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import { mask } from '../../model/schema/sealing.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { parameter } from '../config/request.ts';
import { keepInstead } from '../idempotency.ts';
import { objectBody } from '../input/bodies.ts';
import { recoverBody } from '../recover.ts';

const path = '/api/reverse-proxies/proxy-tokens';
const onePath = `${path}/{tokenId}`;

const example: JsonObject = {
  id: 'ch8i4ug6lnn4g9hqv9a0',
  name: 'Proxies in Bern',
  created_by: 'ch8i4ug6lnn4g9hqv7p0',
  created_at: '2026-12-02T00:00:00.000Z',
};

const requestSchema: JsonObject = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255, description: 'A name by which you will know the token.' },
    expires_in: { type: 'integer', minimum: 0, description: 'For how many seconds it is valid; 0: it does not end.' },
  },
};

/** Tokens by which the account's own reverse proxies are known. */
export const proxyTokens: AreaRoutes = {
  add(app, engine) {
    const right = (operation: 'read' | 'create' | 'delete') => ({
      config: { access: { module: 'services', operation }, recover: recoverBody },
    });
    app.get(path, right('read'), async (request, reply) => {
      const body = await readProxyTokens(engine, callOf(request));
      return sendLong(request, reply, { version: 0, body });
    });
    app.post(path, right('create'), async (request, reply) => {
      const made = await addProxyToken(engine, callOf(request), objectBody(request.body));
      keepInstead(request, { ...made, plain_token: mask });
      return reply.header('cache-control', 'no-store').send(made);
    });
    app.delete(`${path}/:tokenId`, right('delete'), async (request, reply) => {
      await removeProxyToken(engine, callOf(request), parameter(request, 'tokenId'));
      return reply.send();
    });
  },
  paths: pathItems(),
};

function pathItems(): JsonObject {
  const time = (description: string) => ({ type: 'string', format: 'date-time', description });
  const properties = {
    id: { type: 'string', description: 'The id of the token.' },
    name: { type: 'string', description: 'The name by which people know it.' },
    created_by: { type: 'string', description: 'The id of the user who made it.' },
    created_at: time('When it was made.'),
    expires_at: time('When it ends; absent when it does not by itself.'),
    last_used: time('When a proxy registered with it last; absent when never.'),
  };
  const required = ['id', 'name', 'created_by', 'created_at'];
  const token: JsonObject = { type: 'object', required, properties };
  const plain = { type: 'string', description: 'The value, shown this once.' };
  const made: JsonObject = {
    type: 'object',
    required: [...required, 'plain_token'],
    properties: { ...properties, plain_token: plain },
  };
  const tag = 'services';
  const errors = [401, 403, 429, 503];
  return {
    [path]: {
      get: operation({
        ...{ id: 'listProxyTokens', tag, summary: 'List the tokens of reverse proxies' },
        parameters: [header('IfNoneMatch')],
        answer: json({ type: 'array', items: token }, [example]),
        ...{ headers: ['ETag'], unchanged: true, errors },
      }),
      post: operation({
        ...{ id: 'createProxyToken', tag, summary: 'Make a token for reverse proxies' },
        description:
          'Any number of proxies of one cluster may use it. The first one says which cluster; with that cluster the token ends.',
        body: json(requestSchema, { name: 'Proxies in Bern', expires_in: 0 }),
        answer: json(made, { ...example, plain_token: 'nbx_…' }),
        errors: [400, ...errors, 413, 415, 422].sort((a, b) => a - b),
      }),
    },
    [onePath]: {
      ...pathParameters(onePath, () => ({ description: 'The id of the token.', schema: { type: 'string' } })),
      delete: operation({
        ...{ id: 'deleteProxyToken', tag, summary: 'Delete a token of reverse proxies' },
        description: 'It stops working at once.',
        errors: [401, 403, 404, 429, 503],
      }),
    },
  };
}
