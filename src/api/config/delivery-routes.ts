import { discard, resume, retry, showDeliveries } from '../../features/integrations/deliveries/status.ts';
import { deliveries as operations } from '../../operations/config/deliveries.ts';
import { implement } from '../operations/implement.ts';

/** Deliveries of events to receivers. */
export const deliveries = implement(operations, (engine) => ({
  list: ({ call }) => showDeliveries(engine, call),
  resume: ({ call, params, query }) => resume(engine, call, params.id, query.since),
  retry: ({ call, params, query }) => retry(engine, call, params.id, query.event),
  discard: ({ call, params, query }) => discard(engine, call, params.id, query.event),
}));
