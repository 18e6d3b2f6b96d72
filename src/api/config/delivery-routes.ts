import { discard, resume, retry } from '../../features/integrations/deliveries/actions.ts';
import { sendSample } from '../../features/integrations/deliveries/sample.ts';
import { showDeliveries } from '../../features/integrations/deliveries/status.ts';
import type { EventFeed } from '../../model/declare/list-words.ts';
import { deliveries as operations } from '../../operations/config/deliveries.ts';
import { implement } from '../operations/implement.ts';

/** Deliveries of events to receivers. */
export const deliveries = implement(operations, (engine, { openTarget }) => ({
  list: ({ call }) => showDeliveries(engine, call),
  resume: ({ call, params, query }) => resume(engine, call, params.id, query.since),
  retry: ({ call, params, query }) => retry(engine, call, params.id, setAsideEventOf(query)),
  discard: ({ call, params, query }) => discard(engine, call, params.id, setAsideEventOf(query)),
  test: ({ call, params }) => sendSample(engine, call, params.id, openTarget),
}));

/**
 * Returns the event that a request names. Returns `undefined` without a number, which stands for all events that were
 * set aside.
 */
function setAsideEventOf({ event, feed = 'audit' }: { readonly event?: number; readonly feed?: EventFeed }) {
  return event === undefined ? undefined : { feed, number: event };
}
