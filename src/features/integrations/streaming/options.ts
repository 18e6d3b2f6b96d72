import type { Outbound } from '../../../outbound/outbound.ts';
import { eventName } from '../deliveries/events.ts';
import type { DeliveryEvent, DeliveryTarget } from '../deliveries/target.ts';

/** Options for streaming events. */
export interface StreamOptions {
  readonly outbound: Pick<Outbound, 'send'>;
  /** Milliseconds since 1970. */
  now(): number;
  /** Maximum time for a request, in milliseconds. Absent: the default of the platform. */
  readonly timeoutMs?: number;
  /** Time for which events are gathered for one S3 object, in milliseconds. Absent: one minute. */
  readonly gatherMs?: number;
}

/**
 * Returns the target for settings that an earlier release accepted and this release cannot use. Its deliveries are
 * paused.
 */
export function unusableTarget(reason: string): DeliveryTarget {
  return {
    chooseBatchSize: () => 1,
    deliver: async () => ({ outcome: 'pause', reason: `${reason}; correct the settings` }),
  };
}

/**
 * Returns an id of a delivery, made of the id of its event or the ids of its first and last event. Receivers recognise
 * a repeated delivery by it.
 */
export function deliveryId(account: string, batch: readonly DeliveryEvent[]): string {
  const ends = [batch[0], batch.at(-1)].flatMap((event) => (event === undefined ? [] : [eventName(event)]));
  const ids = [...new Set(ends)];
  return `evt_${account}_${ids.join('-')}`;
}
