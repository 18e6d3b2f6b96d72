import type { FastifyReply, FastifyRequest } from 'fastify';
import { approveUser, readCaller, rejectUser } from '../../features/accounts/users.ts';
import { inviteAgain } from '../../features/auth/new-user.ts';
import { changeOwnPassword } from '../../features/auth/own-password.ts';
import type { JsonObject } from '../../lib/json.ts';
import { neighbourhoodOf } from '../../lib/net/address.ts';
import { header, json, named, type Operation, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { objectBody } from '../input/bodies.ts';
import { sendWritten, writeOptions } from '../kind-routes.ts';
import { refuseFor } from '../rate-limit.ts';
import { recoverChanged } from '../recover.ts';

const current = '/api/users/current';
const path = '/api/users/{userId}';

const shown = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7p0', email: 'ana@example.com', name: 'Ana Lima', role: 'owner', status: 'active' },
  ...{ last_login: '0001-01-01T00:00:00Z', auto_groups: [], is_current: true, is_service_user: false },
  ...{ is_blocked: false, pending_approval: false, issued: 'api' },
};

const example = {
  ...shown,
  permissions: {
    is_restricted: false,
    modules: { groups: { read: true, create: true, update: true, delete: true } },
  },
};

function idOf(request: FastifyRequest): string {
  // The routes below name the parameter.
  return (request.params as { readonly id: string }).id;
}

/** What users ask about themselves, and how people come in. */
export const users: AreaRoutes = {
  add(app, engine, { people }) {
    app.get(current, { config: { access: 'anyone' } }, async (request, reply) => {
      const { version, body } = await readCaller(engine, callOf(request));
      return sendLong(request, reply, { version, body });
    });
    const may = (operation: 'create' | 'update' | 'delete') => ({ config: { access: { module: 'users', operation } } });
    app.post('/api/users/:id/invite', may('create'), async (request, reply) => {
      const { link } = await inviteAgain(engine, people, callOf(request), idOf(request));
      if (link !== undefined) handOver(reply, link);
      return reply.send();
    });
    const approving = { config: { ...may('update').config, recover: recoverChanged(engine) } };
    app.post('/api/users/:id/approve', approving, async (request, reply) => {
      const approved = await approveUser(engine, callOf(request), idOf(request), writeOptions(request));
      return sendWritten(engine, approved, request, reply);
    });
    app.delete('/api/users/:id/reject', may('delete'), async (request, reply) => {
      await rejectUser(engine, callOf(request), idOf(request), writeOptions(request));
      return reply.send();
    });
    app.put('/api/users/:id/password', { config: { access: 'anyone' } }, async (request, reply) => {
      const [call, body, origin] = [
        callOf(request),
        objectBody(request.body),
        { address: neighbourhoodOf(request.ip) },
      ];
      const seconds = await changeOwnPassword(engine, people, call, idOf(request), body, origin);
      refuseFor(reply, seconds, 'there were too many wrong passwords');
      return reply.header('cache-control', 'no-store').send();
    });
  },
  paths: {
    [current]: {
      get: operation({
        id: 'readCurrentUser',
        tag: 'users',
        summary: 'Read the user who asks',
        description: 'Also says what the user may do.',
        parameters: [header('IfNoneMatch')],
        answer: json(named('User'), example),
        headers: ['ETag'],
        unchanged: true,
        errors: [401, 403, 404, 429, 503],
      }),
    },
    ...action('invite', 'post', {
      id: 'inviteUserAgain',
      summary: 'Send the invitation of a person again',
      description:
        'For people who have not signed in yet. Without a mail server no mail is sent: `Heddle-Invite-Link` has the link to hand over, and `Heddle-Notice` says so. Earlier links work no more.',
      headers: ['Heddle-Notice', 'Heddle-Invite-Link'],
      errors: [401, 403, 404, 412, 422, 429, 503],
    }),
    ...action('approve', 'post', {
      id: 'approveUser',
      summary: 'Approve a user who waits for approval',
      answer: json(named('User'), { ...shown, role: 'user', is_current: false }),
      headers: ['ETag'],
      errors: [401, 403, 404, 409, 422, 429, 503],
    }),
    ...action('reject', 'delete', {
      id: 'rejectUser',
      summary: 'Reject a user who waits for approval',
      errors: [401, 403, 404, 409, 422, 429, 503],
    }),
    ...action('password', 'put', {
      id: 'changePassword',
      summary: 'Change your own password',
      description:
        'Ends your sessions and their tokens; personal access tokens stay. Too many wrong old passwords are answered with 429 for a while.',
      body: json(
        {
          type: 'object',
          required: ['old_password', 'new_password'],
          properties: {
            old_password: { type: 'string', minLength: 1, description: 'The password so far.' },
            new_password: { type: 'string', minLength: 8, maxLength: 1024, description: 'The password from now on.' },
          },
        },
        { old_password: 'correct horse', new_password: 'battery staple' },
      ),
      errors: [400, 401, 403, 404, 412, 413, 415, 422, 429, 503],
    }),
  },
};

function handOver(reply: FastifyReply, link: string): void {
  void reply.headers({
    'cache-control': 'no-store',
    'heddle-invite-link': link,
    'heddle-notice': 'no mail was sent, since there is no mail server; hand over the link in Heddle-Invite-Link',
  });
}

/** A path item about one user. */
function action(name: string, method: string, spec: Omit<Operation, 'tag'>): JsonObject {
  const full = `${path}/${name}`;
  const describe = () => ({ description: 'The id of the user.', schema: { type: 'string' } });
  return { [full]: { ...pathParameters(full, describe), [method]: operation({ ...spec, tag: 'users' }) } };
}
