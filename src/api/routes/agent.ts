import type { FastifyRequest } from 'fastify';
import { planOnlyRefusal } from '../../commit/commit.ts';
import type { Engine } from '../../commit/engine.ts';
import type { PeerSession } from '../../features/peers/peering.ts';
import { NotAllowed } from '../../model/errors.ts';
import { lowerToCanonical } from '../../model/lower/response.ts';
import { agent as operations } from '../../operations/agent.ts';
import type { AreaRoutes, Services } from '../area-routes.ts';
import { scopeToAccount } from '../authenticate.ts';
import { listMember, nameMember, objectBody } from '../input/bodies.ts';
import { implement } from '../operations/implement.ts';
import { agentRequest, bodyLimit, keepBytes } from './agent-request.ts';
import { agentServices } from './agent-services.ts';

const trafficBodyLimit = 4 * 1024 * 1024;
/** Maximum number of records in one traffic report. */
const maxRecords = 2000;

const requests = implement(operations, (engine, services) => {
  const { peering, feeds } = services;
  const show = (to: PeerSession) => ({
    peer: lowerToCanonical(engine.registry, to.peer, to.state.viewedAs({ now: engine.now(), viewer: '' })),
    session: { ...to.session },
    server_time: engine.now(),
  });
  return {
    challenge: () => peering.challenge(),
    enrol: {
      bodyLimit,
      handle: async ({ request }) =>
        show(await peering.enrol(agentRequest(request), await callOfUser(request, engine, services))),
    },
    login: {
      bodyLimit,
      handle: async ({ request }) =>
        show(await peering.login(agentRequest(request), await callOfUser(request, engine, services))),
    },
    reportFacts: {
      bodyLimit,
      async handle({ request }) {
        const peer = await peering.authenticate(agentRequest(request));
        await peering.report(peer, objectBody(request.body));
      },
    },
    reportTraffic: {
      bodyLimit: trafficBodyLimit,
      async handle({ request }) {
        const { peer, state } = await peering.authenticate(agentRequest(request));
        const body = objectBody(request.body);
        const records = listMember(body, 'records', maxRecords);
        return feeds.storeTraffic(state, peer, { batch: nameMember(body, 'batch', 100), records });
      },
    },
  };
});

/** Routes for agents. The peering service makes all decisions; these routes are one transport to it. */
export const agent: AreaRoutes = {
  add: (app, engine, services) =>
    app.register(async (scope) => {
      keepBytes(scope);
      requests.add(scope, engine, services);
      agentServices.add(scope, engine, services);
    }),
  operations: [...requests.operations, ...agentServices.operations],
};

/** Returns the call of the user whose token the request contains, `undefined` without a token. */
async function callOfUser(request: FastifyRequest, engine: Engine, { authenticator }: Services) {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization === '') return undefined;
  const call = await scopeToAccount(request, engine, await authenticator.authenticate(authorization));
  if (call.planOnly === true) throw new NotAllowed(planOnlyRefusal);
  return call;
}
