import type { JsonObject } from '../../../lib/json.ts';
import type { EventFeed } from '../../../model/declare/list-words.ts';

/** An audit event, or a record of traffic or of a proxy, as targets see it. */
export interface DeliveryEvent {
  readonly feed: EventFeed;
  /** Grows within the feed of the account; repetitions have the same one. */
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly code: string;
  /** The code in words. */
  readonly activity: string;
  readonly initiator: { readonly id: string; readonly name: string; readonly email: string };
  readonly target: { readonly id: string; readonly name: string };
  readonly meta: JsonObject;
  /** The HTTP request that led to it; absent: the server did it by itself. */
  readonly requestId?: string;
}

/**
 * What came of a delivery. `accepted`: the receiver has it; people see the note. `retry`: it is tried again by itself, as long as it takes;
 * with `left`, the ids of the events that the receiver did not take, only those. `pause`: people have to do something first,
 * so it is hardly ever tried again by itself. `refused`: the receiver does not want what is in it; a batch is tried again in
 * parts, and a single event is set aside.
 */
export type Verdict =
  | { readonly outcome: 'accepted'; readonly note?: string }
  | {
      readonly outcome: 'retry';
      readonly reason: string;
      readonly afterMs?: number | undefined;
      readonly left?: readonly number[];
    }
  | { readonly outcome: 'pause'; readonly reason: string }
  | { readonly outcome: 'refused'; readonly reason: string };

/** Not yet: it is asked again after so long, or when twice as many events wait. */
export interface Later {
  readonly afterMs: number;
}

/** How much of what waits is read at once: so many events, and not many more bytes than these. */
export interface WindowSize {
  readonly events: number;
  readonly bytes: number;
}

/** Where events of one channel go. Reasons name hosts, and never a path, a header or a secret. */
export interface Target {
  /** How much of what waits it is shown at once, at the least; absent: as much as is usual. */
  readonly window?: WindowSize;
  /** The receiver knows batches and not events: a repetition is the same batch, also when it is one event. */
  readonly repeatsBatches?: true;
  /**
   * How many of the events that wait the next delivery takes, the oldest first: from one to all of them; or not yet. `isAll`
   * says whether these are all that wait.
   */
  take(waiting: readonly DeliveryEvent[], isAll: boolean): number | Later;
  /** Sends a batch. Does not throw for what the receiver does. */
  deliver(batch: readonly DeliveryEvent[]): Promise<Verdict>;
}

/** An object to which events are delivered, with its secrets opened. */
export interface Channel {
  readonly account: string;
  readonly id: string;
  /** Which of the targets it has. */
  readonly type: string;
  readonly enabled: boolean;
  /** Whether an event of this code goes there. */
  wants(code: string): boolean;
  /** What the target is made of; absent: events go nowhere. */
  readonly settings: JsonObject | undefined;
}
