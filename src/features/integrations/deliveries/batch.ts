import type { Channel, DeliveryEvent, Target } from './target.ts';

/** What of the events behind a cursor comes next. */
export interface NextBatch {
  /** Empty: the channel subscribes to none of them. */
  readonly events: readonly DeliveryEvent[];
  /** Where the cursor stands afterwards: no event to deliver lies between the last one of the batch and it. */
  readonly cursor: number;
}

/** How far a batch may go. */
export interface BatchLimits {
  /** Where a batch ends that was begun. */
  readonly end: number | undefined;
  /** Events up to here go one by one, because a batch of them was refused. */
  readonly singlyTo: number;
  /** The number of the newest event of the account; numbers may be missing before it. */
  readonly newest: number;
}

/** The code of the event that says that a delivery fails. */
export const failedCode = 'integration.delivery_failed';

/** Chooses the next batch of the events behind the cursor, `window`, which are in order. */
export function nextBatch(
  window: readonly DeliveryEvent[],
  channel: Channel,
  target: Pick<Target, 'take'> | undefined,
  { end, singlyTo, newest }: BatchLimits,
): NextBatch {
  const waiting =
    target === undefined ? [] : window.filter(({ code, target: { id } }) => isSelected(channel, { code, target: id }));
  const [first] = waiting;
  const last = window.at(-1)?.id ?? newest;
  if (first === undefined || target === undefined) return { events: [], cursor: last };
  const count = first.id <= singlyTo ? 1 : countOf(waiting, target, end);
  const next = waiting[count];
  return { events: waiting.slice(0, count), cursor: next === undefined ? last : next.id - 1 };
}

/** Whether an event goes to a channel. Its own failures do not: what it could not take would make one after the other. */
export function isSelected(
  channel: Channel,
  { code, target }: { readonly code: string; readonly target: string },
): boolean {
  return channel.wants(code) && !(code === failedCode && target === channel.id);
}

function countOf(waiting: readonly DeliveryEvent[], target: Pick<Target, 'take'>, end: number | undefined): number {
  const begun = end === undefined ? 0 : waiting.filter(({ id }) => id <= end).length;
  return begun > 0 ? begun : Math.min(waiting.length, Math.max(1, target.take(waiting)));
}
