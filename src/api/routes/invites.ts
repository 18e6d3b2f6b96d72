import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  acceptInvite,
  type Invited,
  makeInvite,
  readInvites,
  readPublicInvite,
  regenerateInvite,
  removeInvite,
} from '../../features/auth/invites.ts';
import type { JsonObject } from '../../lib/json.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { keepInstead } from '../idempotency.ts';
import { objectBody } from '../input/bodies.ts';
import { recoverBody } from '../recover.ts';
import { invitePaths } from './invite-paths.ts';

const path = '/api/users/invites';

function idOf(request: FastifyRequest): string {
  // The routes below name the parameter, which is the token where an invite is read or accepted.
  return (request.params as { readonly id: string }).id;
}

/** Invites: created by callers who may create users, accepted by the holder of the token. */
export const invites: AreaRoutes = {
  add(app, engine, { people, strangers }) {
    const may = (operation: 'read' | 'create' | 'update' | 'delete') => ({
      config: { access: { module: 'users', operation }, recover: recoverBody },
    });
    app.get(path, may('read'), async (request, reply) => {
      const body = await readInvites(engine, callOf(request));
      return sendLong(request, reply.header('cache-control', 'no-store'), { version: 0, body });
    });
    app.post(path, may('create'), async (request, reply) => {
      const invited = await makeInvite(engine, people, callOf(request), objectBody(request.body));
      return sendInvited(request, reply, invited);
    });
    app.delete(`${path}/:id`, may('delete'), async (request, reply) => {
      await removeInvite(engine, callOf(request), idOf(request));
      return reply.send();
    });
    app.post(`${path}/:id/regenerate`, may('update'), async (request, reply) => {
      const body = request.body === undefined || request.body === null ? {} : objectBody(request.body);
      return sendInvited(request, reply, await regenerateInvite(engine, people, callOf(request), idOf(request), body));
    });
    app.get(`${path}/:id`, { onRequest: strangers }, async (request, reply) => {
      const body = await readPublicInvite(engine, idOf(request));
      return sendLong(request, reply.header('cache-control', 'no-store'), { version: 0, body });
    });
    app.post(`${path}/:id/accept`, { onRequest: strangers }, async (request, reply) => {
      await acceptInvite(engine, idOf(request), objectBody(request.body));
      return reply.header('cache-control', 'no-store').send({ success: true });
    });
  },
  paths: invitePaths(),
};

/** Answers with a token that is shown this once. */
function sendInvited(request: FastifyRequest, reply: FastifyReply, { body, notice }: Invited): FastifyReply {
  if (notice !== undefined) void reply.header('heddle-notice', notice);
  const { invite_token: _, ...kept } = body;
  keepInstead(request, kept as JsonObject);
  return reply.header('cache-control', 'no-store').send(body);
}
