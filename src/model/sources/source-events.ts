import type { ActivityCode } from '../declare/activities.ts';
import { isConditionTrue, type SourceState, type SourceStatus } from './status.ts';

/** States in which the content could not be applied and an approval would not help. */
const failureStates: readonly SourceState[] = ['invalid', 'conflicted', 'unavailable', 'failed'];

/**
 * Returns the events to send for a change of status: one when the source fails, for each kind of failure and each
 * content; one when it stalls; one when it recovers; and one in each long suspension.
 */
export function eventsBetween(before: SourceStatus, after: SourceStatus): readonly ActivityCode[] {
  const isOther = before.state !== after.state || before.observedDigest !== after.observedDigest;
  const events: readonly (readonly [ActivityCode, happened: boolean])[] = [
    ['config.failed', hasFailed(after) && isOther],
    ['config.source.stalled', isStalled(after) && !isStalled(before)],
    ['config.source.recovered', isFailedOrStalled(before) && !isFailedOrStalled(after)],
    ['config.source.suspended', before.remindedAt !== after.remindedAt],
  ];
  return events.filter(([, happened]) => happened).map(([code]) => code);
}

function hasFailed({ state }: SourceStatus): boolean {
  return failureStates.includes(state);
}

function isStalled(status: SourceStatus): boolean {
  return isConditionTrue(status, 'Stalled');
}

function isFailedOrStalled(status: SourceStatus): boolean {
  return hasFailed(status) || isStalled(status);
}

/** Duration of a suspension before a reminder is sent, in milliseconds. */
const reminderDelayMs = 7 * 24 * 60 * 60 * 1000;

/** Whether a reminder of the suspension is due. Each suspension has at most one. */
export function isReminderDue(status: SourceStatus, now: string): boolean {
  const since = status.conditions.find(({ type }) => type === 'Suspended')?.lastTransitionTime;
  if (since === undefined || !isConditionTrue(status, 'Suspended')) return false;
  if (status.remindedAt !== undefined && status.remindedAt >= since) return false;
  return Date.parse(now) - Date.parse(since) >= reminderDelayMs;
}
