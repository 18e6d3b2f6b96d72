import { answerInvite, inviteTenant, unlinkTenant } from '../../features/accounts/tenants/links.ts';
import { removeTenant } from '../../features/accounts/tenants/removal.ts';
import { createTenant, subscribeTenant, verifyTenant } from '../../features/accounts/tenants/tenants.ts';
import { tenants as operations } from '../../operations/tenants.ts';
import { objectBody } from '../input/bodies.ts';
import { sendWritten, writeOptions } from '../kind-routes.ts';
import { implement } from '../operations/implement.ts';
import { recoverChanged, recoverCreated } from '../recover.ts';

/**
 * Creation, deletion, verification, subscription and invites of tenants. The routes of the kind list and replace
 * tenants.
 */
export const tenants = implement(operations, (engine, { pendingTenants: mostPending }) => {
  const recover = recoverCreated(engine, engine.registry.get('MSPTenant'));
  return {
    create: {
      async handle({ call, request, reply }) {
        const options = { ...writeOptions(request), mostPending };
        const written = await createTenant(engine, call, objectBody(request.body), options);
        return sendWritten(engine, written, request, reply);
      },
      recover: ({ request, reply }, done) => recover(request, reply, done),
    },
    delete: ({ call, params }) => removeTenant(engine, call, params.id),
    verify: ({ call, params }) => verifyTenant(engine, call, params.id),
    unlink: ({ call, params, body }) => unlinkTenant(engine, call, params.id, body.owner),
    subscribe: ({ call, params, body }) => subscribeTenant(engine, call, params.id, body.priceID),
    invite: {
      handle: async ({ call, params, request, reply }) =>
        sendWritten(engine, await inviteTenant(engine, call, params.id), request, reply),
      recover: (given, done) => recoverChanged(engine, given, given.params.id, done),
    },
    answerInvite: ({ call, params, body }) => answerInvite(engine, call, params.id, body.value === 'accept'),
  };
});
