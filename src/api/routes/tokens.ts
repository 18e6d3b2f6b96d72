import type { FastifyRequest } from 'fastify';
import type { Engine } from '../../commit/engine.ts';
import {
  addToken,
  type NewToken,
  readToken,
  readTokens,
  removeToken,
  requireTokenRight,
} from '../../features/accounts/tokens.ts';
import { hashToken, tokenPrefix } from '../../features/auth/authenticate.ts';
import { requireRecentSignIn } from '../../features/auth/recent-sign-in.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { makeToken, tokenRandomBytes } from '../../lib/token.ts';
import { header, json, type Operation, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import { mask } from '../../model/schema/sealing.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { keepInstead } from '../idempotency.ts';
import { objectBody } from '../input/bodies.ts';
import { recoverBody } from '../recover.ts';

const tokensPath = '/api/users/{userId}/tokens';
const tokenPath = `${tokensPath}/{tokenId}`;

function newToken({ planEnvironment }: Engine): NewToken {
  const value = makeToken(tokenPrefix, planEnvironment.random(tokenRandomBytes));
  return { value, hash: hashToken(value) };
}

function paramsOf(request: FastifyRequest): { readonly id: string; readonly tokenId: string } {
  // The routes above name these parameters.
  return request.params as { readonly id: string; readonly tokenId: string };
}

const example = {
  id: 'ch8i4ug6lnn4g9hqv7m0',
  name: 'CI',
  expiration_date: '2027-01-01T00:00:00.000Z',
  created_by: 'ch8i4ug6lnn4g9hqv7p0',
  created_at: '2026-12-02T00:00:00.000Z',
};

function pathItems(): JsonObject {
  const time = (description: string) => ({ type: 'string', format: 'date-time', description });
  const token: JsonObject = {
    type: 'object',
    required: ['id', 'name', 'expiration_date', 'created_by', 'created_at'],
    properties: {
      id: { type: 'string', description: 'The id of the token.' },
      name: { type: 'string', description: 'The name by which people know it.' },
      expiration_date: time('When it ends.'),
      created_by: { type: 'string', description: 'The id of the user who made it.' },
      created_at: time('When it was made.'),
      last_used: time('When it was used last, to the minute; absent when never.'),
      plan_only: { type: 'boolean', description: 'Present and true when it reads and plans, and writes nothing.' },
    },
  };
  const errors = [401, 403, 404, 429, 503];
  const read = { parameters: [header('IfNoneMatch')], headers: ['ETag'], unchanged: true, errors };
  const tag = 'users';
  return {
    [tokensPath]: item(tokensPath, {
      get: {
        ...{ id: 'listTokens', tag, summary: 'List the tokens of a user' },
        description: 'Their own, or those of a service user.',
        answer: json({ type: 'array', items: token }, [example]),
        ...read,
      },
      post: {
        ...{ id: 'createToken', tag, summary: 'Make a token' },
        description:
          'For oneself, or for a service user. The value is shown this once. Whoever signed in at this server does so again when that is more than 15 minutes ago; personal access tokens need not.',
        body: json(requestSchema, { name: 'CI', expires_in: 30 }),
        answer: json(
          {
            type: 'object',
            required: ['plain_token', 'personal_access_token'],
            properties: { plain_token: { type: 'string', description: 'The value.' }, personal_access_token: token },
          },
          { plain_token: 'nbp_…', personal_access_token: example },
        ),
        errors: [400, 401, 403, 404, 413, 415, 422, 429, 503],
      },
    }),
    [tokenPath]: item(tokenPath, {
      get: { ...{ id: 'readToken', tag, summary: 'Read a token' }, answer: json(token, example as Json), ...read },
      delete: {
        ...{ id: 'deleteToken', tag, summary: 'Delete a token' },
        description: 'It stops working at once. The same holds for sign-ins as when one is made.',
        errors,
      },
    }),
  };
}

const requestSchema: JsonObject = {
  type: 'object',
  required: ['name', 'expires_in'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255, description: 'A name by which you will know the token.' },
    expires_in: { type: 'integer', minimum: 1, maximum: 365, description: 'For how many days it is valid.' },
    plan_only: {
      type: 'boolean',
      description: 'Whether it may read and plan, and write nothing. Not in other servers.',
    },
  },
};

/** Personal access tokens: one's own, and those of service users. */
export const tokens: AreaRoutes = {
  add(app, engine) {
    // Everybody manages their own; the engine knows whose they are.
    const options = { config: { access: 'anyone' } } as const;
    app.get('/api/users/:id/tokens', options, async (request, reply) => {
      const body = await readTokens(engine, callOf(request), paramsOf(request).id);
      return sendLong(request, reply, { version: 0, body });
    });
    const mayRepeat = (request: FastifyRequest) => requireTokenRight(engine, callOf(request), paramsOf(request).id);
    const config = { ...options.config, mayRepeat, recover: recoverBody };
    app.post('/api/users/:id/tokens', { config }, async (request, reply) => {
      const body = objectBody(request.body);
      requireRecentSignIn(callOf(request), Date.parse(engine.now()));
      const answer = await addToken(engine, callOf(request), paramsOf(request).id, body, () => newToken(engine));
      keepInstead(request, { ...answer, plain_token: mask });
      return reply.header('cache-control', 'no-store').send(answer);
    });
    app.get('/api/users/:id/tokens/:tokenId', options, async (request, reply) => {
      const { id, tokenId } = paramsOf(request);
      const body = await readToken(engine, callOf(request), id, tokenId);
      return sendLong(request, reply, { version: 0, body });
    });
    app.delete('/api/users/:id/tokens/:tokenId', options, async (request, reply) => {
      const { id, tokenId } = paramsOf(request);
      requireRecentSignIn(callOf(request), Date.parse(engine.now()));
      await removeToken(engine, callOf(request), id, tokenId);
      return reply.send();
    });
  },
  paths: pathItems(),
};

function item(path: string, operations: Readonly<Record<string, Operation>>): JsonObject {
  const described = pathParameters(path, (name) => ({
    description: name === 'userId' ? 'The id of the user.' : 'The id of the token.',
    schema: { type: 'string' },
  }));
  return {
    ...described,
    ...Object.fromEntries(Object.entries(operations).map(([method, spec]) => [method, operation(spec)])),
  };
}
