import { exposedUntil } from '../../features/peers/exposure/exposure.ts';
import type { StoredObject } from '../../model/state/object.ts';
import { asKind } from '../../model/state/stored.ts';
import { agentServices as operations } from '../../operations/agent-services.ts';
import { objectBody } from '../input/bodies.ts';
import { implement } from '../operations/implement.ts';
import { agentRequest, bodyLimit } from './agent-request.ts';

/** Services that peers expose: exposing, renewing and withdrawing them. */
export const agentServices = implement(operations, (_engine, { peering }) => ({
  expose: {
    bodyLimit,
    async handle({ request }) {
      const agent = await peering.authenticate(agentRequest(request));
      return describeService((await peering.expose(agent, objectBody(request.body))).object);
    },
  },
  renew: {
    bodyLimit,
    async handle({ request, params }) {
      const agent = await peering.authenticate(agentRequest(request));
      return describeService((await peering.renewExposed(agent, params.serviceId)).object);
    },
  },
  withdraw: async ({ request, params }) =>
    peering.withdraw(await peering.authenticate(agentRequest(request)), params.serviceId),
}));

/** Returns the members of a service that its peer needs. */
function describeService(object: StoredObject) {
  const service = asKind(object, 'ProxyService');
  const { id, spec, derived } = service;
  const port = derived.listen_port ?? 0;
  return {
    ...{ id, domain: spec.domain ?? '', mode: spec.mode ?? 'http' },
    ...(port === 0 ? {} : { listen_port: port }),
    expires_at: exposedUntil(service) ?? '',
  };
}
