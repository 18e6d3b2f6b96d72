import type { Channel, DeliveryEvent, DeliveryTarget, WaitForMore } from './target.ts';

/** Next batch of the events behind a cursor. */
export interface NextBatch {
  /** Events to send. Empty: the channel subscribes to none of the events behind the cursor. */
  readonly events: readonly DeliveryEvent[];
  /** Id of the last event of the batch, even when the receiver has that event already. */
  readonly end: number;
  /**
   * Position of the cursor after the batch. No event to deliver is between the last event of the batch and this
   * position.
   */
  readonly cursor: number;
}

/** How a refused batch is sent in parts, until the event that the receiver refuses is found. */
export interface BatchParts {
  /** Id of the last event of the refused batch. */
  readonly lastId: number;
  /** Maximum number of events in a part. */
  readonly maxEvents: number;
}

/** Limits of the next batch. */
export interface BatchLimits {
  /** Id of the last event of a batch that was begun, possibly with settings that changed since. */
  readonly end?: number | undefined;
  /** Ids of the events of that batch that the receiver did not take. Absent: all of them. */
  readonly unacceptedEvents?: readonly number[] | undefined;
  /** How a refused batch is sent in parts. Absent: no batch was refused. */
  readonly parts?: BatchParts | undefined;
  /** The number of the newest event of the account; numbers may be missing before it. */
  readonly newest: number;
}

/** The part of a target that chooses the size of batches. */
type BatchSizer = Pick<DeliveryTarget, 'chooseBatchSize' | 'repeatsBatches'>;

/** Code of the audit event that reports a failing delivery. */
export const deliveryFailedCode = 'integration.delivery_failed';

/**
 * Returns the next batch of `window`, which contains the events behind the cursor in order, or `WaitForMore` when the
 * target waits for more.
 */
export function nextBatch(
  window: readonly DeliveryEvent[],
  channel: Channel,
  target: BatchSizer | undefined,
  { end, unacceptedEvents, parts, newest }: BatchLimits,
): NextBatch | WaitForMore {
  const waiting =
    target === undefined ? [] : window.filter(({ code, target: { id } }) => isSelected(channel, { code, target: id }));
  const [first] = waiting;
  const last = window.at(-1)?.id ?? newest;
  if (first === undefined || target === undefined) return { events: [], end: last, cursor: last };
  const begun = end === undefined ? 0 : waiting.filter(({ id }) => id <= end).length;
  const count =
    parts !== undefined && first.id <= parts.lastId
      ? partSizeOf(waiting, target, parts)
      : batchSizeOf(waiting, target, { begun, isAll: last >= newest });
  if (typeof count !== 'number') return count;
  const chosen = waiting.slice(0, count);
  const next = waiting[count];
  return {
    events:
      begun > 0 && unacceptedEvents !== undefined ? chosen.filter(({ id }) => unacceptedEvents.includes(id)) : chosen,
    end: chosen.at(-1)?.id ?? last,
    cursor: next === undefined ? last : next.id - 1,
  };
}

/**
 * Whether an event is sent to a channel. Events about failures of the channel itself are not: each such event that it
 * could not take would cause the next one.
 */
export function isSelected(
  channel: Channel,
  { code, target }: { readonly code: string; readonly target: string },
): boolean {
  return channel.subscribesTo(code) && !(code === deliveryFailedCode && target === channel.id);
}

/** Returns the size of the next part of a refused batch. A part does not wait for more events. */
function partSizeOf(waiting: readonly DeliveryEvent[], target: BatchSizer, { lastId, maxEvents }: BatchParts): number {
  const some = waiting.slice(0, maxEvents).filter(({ id }) => id <= lastId);
  const count = target.chooseBatchSize(some, false);
  return typeof count === 'number' ? Math.min(some.length, Math.max(1, count)) : some.length;
}

/**
 * Returns the size of the next batch. A batch that was begun continues, but with no more events than the target takes
 * with its current settings, unless it must be repeated unchanged.
 */
function batchSizeOf(
  waiting: readonly DeliveryEvent[],
  target: BatchSizer,
  { begun, isAll }: { readonly begun: number; readonly isAll: boolean },
): number | WaitForMore {
  if (begun > 0 && target.repeatsBatches === true) return begun;
  const count = target.chooseBatchSize(waiting, isAll);
  if (typeof count !== 'number') return begun > 0 ? begun : count;
  return Math.min(begun > 0 ? begun : waiting.length, Math.max(1, count));
}
