import type { FastifyReply } from 'fastify';
import { approveUser, readCaller, rejectUser } from '../../features/accounts/users.ts';
import { resendInvitation } from '../../features/auth/new-user.ts';
import { changeOwnPassword } from '../../features/auth/own-password.ts';
import { clientNetworkOf } from '../../lib/net/address.ts';
import { users as operations } from '../../operations/users.ts';
import { sendLong } from '../answers/answers.ts';
import { sendWritten, writeOptions } from '../kind-routes.ts';
import { implement } from '../operations/implement.ts';
import { refuseIfLimited } from '../rate-limit.ts';
import { recoverChanged } from '../recover.ts';

/** Operations of users on themselves, and the admission of people. */
export const users = implement(operations, (engine, { people }) => ({
  readCurrent: async ({ call, request, reply }) => sendLong(request, reply, await readCaller(engine, call)),
  async inviteAgain({ call, params, reply }) {
    const { link } = await resendInvitation(engine, people, call, params.userId);
    if (link !== undefined) sendLink(reply, link);
  },
  approve: {
    async handle({ call, params, request, reply }) {
      const approved = await approveUser(engine, call, params.userId, writeOptions(request));
      return sendWritten(engine, approved, request, reply);
    },
    recover: (given, done) => recoverChanged(engine, given, given.params.userId, done),
  },
  reject: ({ call, params, request }) => rejectUser(engine, call, params.userId, writeOptions(request)),
  async changePassword({ call, params, body, request, reply }) {
    const origin = { address: clientNetworkOf(request.ip) };
    const seconds = await changeOwnPassword(engine, people, call, params.userId, body, origin);
    refuseIfLimited(reply, seconds, 'there were too many wrong passwords');
  },
}));

function sendLink(reply: FastifyReply, link: string): void {
  void reply.headers({
    'cache-control': 'no-store',
    'heddle-invite-link': link,
    'heddle-notice': 'no mail was sent, because no mail server is configured; pass on the link in Heddle-Invite-Link',
  });
}
