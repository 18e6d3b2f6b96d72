import type { FastifyReply } from 'fastify';
import {
  acceptInvite,
  type InviteResult,
  makeInvite,
  readInvites,
  readPublicInvite,
  regenerateInvite,
  removeInvite,
} from '../../features/auth/invites.ts';
import { invites as operations } from '../../operations/invites.ts';
import { implement } from '../operations/implement.ts';

/** Invites: created by callers who may create users, accepted by the holder of the token. */
export const invites = implement(operations, (engine, { people, anonymousLimit }) => ({
  list: ({ call }) => readInvites(engine, call),
  create: async ({ call, body, reply }) => withNotice(reply, await makeInvite(engine, people, call, body)),
  delete: ({ call, params }) => removeInvite(engine, call, params.inviteId),
  regenerate: async ({ call, params, body, reply }) =>
    withNotice(reply, await regenerateInvite(engine, people, call, params.inviteId, body)),
  read: { onRequest: anonymousLimit, handle: ({ params }) => readPublicInvite(engine, params.token) },
  accept: {
    onRequest: anonymousLimit,
    async handle({ params, body }) {
      await acceptInvite(engine, params.token, body);
      return { success: true };
    },
  },
}));

function withNotice<T>(reply: FastifyReply, { body, notice }: InviteResult<T>): T {
  if (notice !== undefined) void reply.header('heddle-notice', notice);
  return body;
}
