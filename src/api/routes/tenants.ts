import type { FastifyRequest } from 'fastify';
import { answerInvite, inviteTenant, unlinkTenant } from '../../features/accounts/tenants/links.ts';
import { removeTenant } from '../../features/accounts/tenants/removal.ts';
import { createTenant, subscribeTenant, verifyTenant } from '../../features/accounts/tenants/tenants.ts';
import type { JsonObject } from '../../lib/json.ts';
import { tenantAnswers } from '../../model/declare/tenant-words.ts';
import { header, json, named, type Operation, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { objectBody, textMember } from '../input/bodies.ts';
import { sendWritten, writeOptions } from '../kind-routes.ts';
import { recoverChanged, recoverCreated, recoverEmpty } from '../recover.ts';

const path = '/api/integrations/msp/tenants';
const errors = [401, 403, 404, 412, 429, 503];
const withBody = [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503];

const body = {
  name: 'Acme Works',
  domain: 'acme.example.com',
  groups: [{ id: 'ch8i4ug6lnn4g9hqv7mg', role: 'admin' }],
};

/** A tenant that was just made. */
const example = {
  id: 'ch8i4ug6lnn4g9hqv7t0',
  ...body,
  status: 'pending',
  dns_challenge: 'heddle-challenge=5d41402abc4b2a76b9719d911017c592a1b2c3d4',
  created_at: '2026-01-02T03:04:05.000Z',
  updated_at: '2026-01-02T03:04:05.000Z',
};

/** How tenants come and what becomes of them; the kind itself lists and replaces them. */
export const tenants: AreaRoutes = {
  add(app, engine, { pendingTenants: mostPending }) {
    const updating = { access: { module: 'msp', operation: 'update' } } as const;
    const update = { config: { ...updating, recover: recoverEmpty } };
    const create = { config: { access: { module: 'msp', operation: 'create' } } } as const;
    const subscribe = {
      config: { access: { module: 'billing', operation: 'update' }, recover: recoverEmpty },
    } as const;
    const recover = recoverCreated(engine, engine.registry.get('MSPTenant'));
    app.post(path, { config: { ...create.config, recover } }, async (request, reply) => {
      const options = { ...writeOptions(request), mostPending };
      const written = await createTenant(engine, callOf(request), objectBody(request.body), options);
      return sendWritten(engine, written, request, reply);
    });
    app.post(`${path}/:id/dns`, update, async (request, reply) => {
      await verifyTenant(engine, callOf(request), idOf(request));
      return reply.send();
    });
    app.post(`${path}/:id/unlink`, update, async (request, reply) => {
      const owner = textMember(objectBody(request.body), 'owner');
      await unlinkTenant(engine, callOf(request), idOf(request), owner);
      return reply.send();
    });
    const remove = { config: { access: { module: 'msp', operation: 'delete' } } } as const;
    app.delete(`${path}/:id`, remove, async (request, reply) => {
      await removeTenant(engine, callOf(request), idOf(request));
      return reply.send();
    });
    app.post(`${path}/:id/subscription`, subscribe, async (request, reply) => {
      const price = textMember(objectBody(request.body), 'priceID');
      await subscribeTenant(engine, callOf(request), idOf(request), price);
      return reply.send();
    });
    app.post(
      `${path}/:id/invite`,
      { config: { ...updating, recover: recoverChanged(engine) } },
      async (request, reply) =>
        sendWritten(engine, await inviteTenant(engine, callOf(request), idOf(request)), request, reply),
    );
    app.put(`${path}/:id/invite`, { config: { access: 'anyone' } }, async (request, reply) => {
      const value = textMember(objectBody(request.body), 'value', tenantAnswers);
      await answerInvite(engine, callOf(request), idOf(request), value === 'accept');
      return reply.send();
    });
  },
  paths: {
    [path]: {
      post: operation({
        id: 'createMSPTenant',
        tag: 'msp',
        summary: 'Make a tenant',
        description:
          'Makes the account of the tenant too, unless its domain has one already (`existing`), which can then be invited. An account may have so many tenants that wait for the proof of their domain as the server allows (409).',
        parameters: [header('Prefer')],
        body: json(named('MSPTenantRequest'), body),
        answer: json(named('MSPTenant'), example),
        headers: ['ETag', 'Heddle-Ignored'],
        errors: withBody.filter((status) => status !== 404 && status !== 412),
      }),
    },
    [`${path}/{id}`]: {
      delete: operation({
        id: 'deleteMSPTenant',
        tag: 'msp',
        summary: 'Remove a tenant that is not active',
        description:
          'The account of a tenant whose domain was never proved goes too, with everything in it, which wants an owner; one that was there before is left alone.',
        errors: [...errors, 409].sort((a, b) => a - b),
      }),
    },
    ...action('dns', {
      post: {
        id: 'verifyMSPTenant',
        summary: 'Prove the domain of a tenant',
        description: 'Looks for the TXT record `_heddle-challenge.<domain>`; with it the tenant becomes `active`.',
        errors: [...errors, 409].sort((a, b) => a - b),
      },
    }),
    ...action('unlink', {
      post: {
        id: 'unlinkMSPTenant',
        summary: 'Let a tenant go',
        description: 'Gives its account to one of the users there.',
        body: bodyOf(
          { owner: { type: 'string', minLength: 1, description: 'The id of the new owner.', 'x-ref': 'User' } },
          { owner: 'ch8i4ug6lnn4g9hqv7p0' },
        ),
        errors: withBody,
      },
    }),
    ...action('subscription', {
      post: {
        id: 'subscribeMSPTenant',
        summary: 'Change the subscription of a tenant',
        body: bodyOf(
          { priceID: { type: 'string', minLength: 1, description: 'The price from now on.' } },
          { priceID: 'price_team_monthly' },
        ),
        errors: withBody,
      },
    }),
    ...action('invite', {
      post: {
        id: 'inviteMSPTenant',
        summary: 'Invite the account that a domain has already',
        answer: json(named('MSPTenant'), {
          ...example,
          ...{ status: 'invited', invited_at: example.updated_at },
        }),
        headers: ['ETag'],
        errors,
      },
      put: {
        id: 'answerMSPInvite',
        summary: 'Accept or decline an invitation',
        description: 'For the owner of the invited account, whose id stands in the path.',
        body: bodyOf(
          { value: { type: 'string', enum: tenantAnswers, description: 'The answer.' } },
          { value: 'accept' },
        ),
        errors: withBody,
      },
    }),
  },
};

function idOf(request: FastifyRequest): string {
  // The routes above name the parameter.
  return (request.params as { readonly id: string }).id;
}

function bodyOf(properties: JsonObject, example: JsonObject): JsonObject {
  return json({ type: 'object', required: Object.keys(properties), properties }, example);
}

/** A path item about one tenant. */
function action(name: string, methods: Readonly<Record<string, Omit<Operation, 'tag'>>>): JsonObject {
  const full = `${path}/{id}/${name}`;
  const operations = Object.entries(methods).map(([method, spec]) => [method, operation({ ...spec, tag: 'msp' })]);
  const describe = () => ({
    description: 'The id of the tenant, which is that of its account.',
    schema: { type: 'string' },
  });
  return { [full]: { ...pathParameters(full, describe), ...Object.fromEntries(operations) } };
}
