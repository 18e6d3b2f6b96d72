import type { Channel, DeliveryEvent, Later, Target } from './target.ts';

/** What of the events behind a cursor comes next. */
export interface NextBatch {
  /** Empty: the channel subscribes to none of them. */
  readonly events: readonly DeliveryEvent[];
  /** The last event of the batch, also when the receiver has it already. */
  readonly end: number;
  /** Where the cursor stands afterwards: no event to deliver lies between the last one of the batch and it. */
  readonly cursor: number;
}

/** A batch that was refused is sent in parts, until the event is found that the receiver does not want. */
export interface Parts {
  /** The last event of the batch. */
  readonly to: number;
  /** How many of its events go together, at the most. */
  readonly events: number;
}

/** How far a batch may go. */
export interface BatchLimits {
  /** Where a batch ends that was begun, maybe with other settings than those of now. */
  readonly end?: number | undefined;
  /** The events of that batch that the receiver did not take; absent: all of them. */
  readonly left?: readonly number[] | undefined;
  /** How the events of a batch that was refused go on; absent: none was. */
  readonly parts?: Parts | undefined;
  /** The number of the newest event of the account; numbers may be missing before it. */
  readonly newest: number;
}

/** How a target chooses. */
type Choosing = Pick<Target, 'take' | 'repeatsBatches'>;

/** The code of the event that says that a delivery fails. */
export const failedCode = 'integration.delivery_failed';

/** Chooses the next batch of the events behind the cursor, `window`, which are in order. */
export function nextBatch(
  window: readonly DeliveryEvent[],
  channel: Channel,
  target: Choosing | undefined,
  { end, left, parts, newest }: BatchLimits,
): NextBatch | Later {
  const waiting =
    target === undefined ? [] : window.filter(({ code, target: { id } }) => isSelected(channel, { code, target: id }));
  const [first] = waiting;
  const last = window.at(-1)?.id ?? newest;
  if (first === undefined || target === undefined) return { events: [], end: last, cursor: last };
  const begun = end === undefined ? 0 : waiting.filter(({ id }) => id <= end).length;
  const count =
    parts !== undefined && first.id <= parts.to
      ? partOf(waiting, target, parts)
      : countOf(waiting, target, { begun, isAll: last >= newest });
  if (typeof count !== 'number') return count;
  const chosen = waiting.slice(0, count);
  const next = waiting[count];
  return {
    events: begun > 0 && left !== undefined ? chosen.filter(({ id }) => left.includes(id)) : chosen,
    end: chosen.at(-1)?.id ?? last,
    cursor: next === undefined ? last : next.id - 1,
  };
}

/** Whether an event goes to a channel. Its own failures do not: what it could not take would make one after the other. */
export function isSelected(
  channel: Channel,
  { code, target }: { readonly code: string; readonly target: string },
): boolean {
  return channel.wants(code) && !(code === failedCode && target === channel.id);
}

/** What is sent of a batch that was refused does not wait for more. */
function partOf(waiting: readonly DeliveryEvent[], target: Choosing, { to, events }: Parts): number {
  const some = waiting.slice(0, events).filter(({ id }) => id <= to);
  const count = target.take(some, false);
  return typeof count === 'number' ? Math.min(some.length, Math.max(1, count)) : some.length;
}

/** A batch that was begun goes on, but with no more of it than the target takes by the settings that it has now. */
function countOf(
  waiting: readonly DeliveryEvent[],
  target: Choosing,
  { begun, isAll }: { readonly begun: number; readonly isAll: boolean },
): number | Later {
  if (begun > 0 && target.repeatsBatches === true) return begun;
  const count = target.take(waiting, isAll);
  if (typeof count !== 'number') return begun > 0 ? begun : count;
  return Math.min(begun > 0 ? begun : waiting.length, Math.max(1, count));
}
