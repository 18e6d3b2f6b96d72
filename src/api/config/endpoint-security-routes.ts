import { approveLoss, showEndpointSecurity, syncNow } from '../../features/integrations/endpoint-security/status.ts';
import { endpointSecurity as operations } from '../../operations/config/endpoint-security.ts';
import { implement } from '../operations/implement.ts';

/** Integrations with endpoint security products. */
export const endpointSecurity = implement(operations, (engine) => ({
  list: ({ call }) => showEndpointSecurity(engine, call),
  sync: ({ call, params }) => syncNow(engine, call, params.vendor),
  approve: ({ call, params }) => approveLoss(engine, call, params.vendor),
}));
