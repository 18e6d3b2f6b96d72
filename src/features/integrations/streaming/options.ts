import type { Outbound } from '../../../outbound/outbound.ts';
import { eventName } from '../deliveries/events.ts';
import type { DeliveryEvent, Target } from '../deliveries/target.ts';

/** What events are streamed with. */
export interface StreamOptions {
  readonly outbound: Pick<Outbound, 'send'>;
  /** Milliseconds since 1970. */
  now(): number;
  /** How long a platform may take, in milliseconds; absent: as long as is usual for it. */
  readonly timeoutMs?: number;
  /** How long events are gathered for one object, in milliseconds; absent: a minute. */
  readonly gatherMs?: number;
}

/** A platform whose settings an earlier release took, and this one cannot use. */
export function unusableTarget(reason: string): Target {
  return { take: () => 1, deliver: async () => ({ outcome: 'pause', reason: `${reason}; correct the settings` }) };
}

/** The id of an event, or of the first and the last one of a batch, as receivers may recognise a repetition. */
export function deliveryId(account: string, batch: readonly DeliveryEvent[]): string {
  const ends = [batch[0], batch.at(-1)].flatMap((event) => (event === undefined ? [] : [eventName(event)]));
  const ids = [...new Set(ends)];
  return `evt_${account}_${ids.join('-')}`;
}
