import type { JsonObject } from '../../../lib/json.ts';
import type { EventFeed } from '../../../model/declare/list-words.ts';

/** An audit event, or a record of traffic or of a reverse proxy, in the form that targets receive. */
export interface DeliveryEvent {
  readonly feed: EventFeed;
  /** Number that grows within the feed of the account. A repeated event has the same number. */
  readonly id: number;
  /** Time of the event, in ISO 8601. */
  readonly at: string;
  readonly code: string;
  /** Name of the code, for people. */
  readonly activity: string;
  readonly initiator: { readonly id: string; readonly name: string; readonly email: string };
  readonly target: { readonly id: string; readonly name: string };
  readonly meta: JsonObject;
  /** Id of the HTTP request that caused the event. Absent when the server caused it by itself. */
  readonly requestId?: string;
}

/**
 * Result of a delivery.
 * - `accepted`: the receiver has the events. The note is shown to users.
 * - `retry`: the delivery is tried again automatically, for as long as it takes. With `left`, the ids of the events
 * that the receiver did not take, only these events are sent again.
 * - `pause`: a person has to do something first, so the delivery is rarely tried again automatically.
 * - `refused`: the receiver does not accept the content. A batch is tried again in parts, and a single event is set
 * aside.
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

/**
 * Answer of a target that waits for more events. It is queried again after `afterMs`, or when twice as many events
 * wait.
 */
export interface WaitForMore {
  readonly afterMs: number;
}

/** Amount of waiting events that is read at once: the number of events, and roughly the maximum number of bytes. */
export interface WindowSize {
  readonly events: number;
  readonly bytes: number;
}

/**
 * Destination of the events of one channel. Reasons in its verdicts name hosts, and never a path, a header or a secret.
 */
export interface DeliveryTarget {
  /** Minimum amount of waiting events that the target is shown at once. Absent: the usual amount. */
  readonly window?: WindowSize;
  /**
   * Set when the receiver identifies batches and not events: a repetition must be the same batch, even if it is a
   * single event.
   */
  readonly repeatsBatches?: true;
  /**
   * Returns how many of the waiting events the next delivery takes, oldest first, from one to all; or `WaitForMore`.
   * `isAll` states whether `waiting` contains all events that wait.
   */
  chooseBatchSize(waiting: readonly DeliveryEvent[], isAll: boolean): number | WaitForMore;
  /** Sends a batch. Failures of the receiver become a verdict and are not thrown. */
  deliver(batch: readonly DeliveryEvent[]): Promise<Verdict>;
}

/**
 * An object to which events are delivered. Its secrets are opened by `openChannel`, and still sealed after
 * `readChannel`.
 */
export interface Channel {
  readonly account: string;
  readonly id: string;
  /** Type of its target. */
  readonly type: string;
  readonly enabled: boolean;
  /** Whether events of this code are sent to the channel. */
  subscribesTo(code: string): boolean;
  /** Settings of the target. Absent: no events are sent. */
  readonly settings: JsonObject | undefined;
}
