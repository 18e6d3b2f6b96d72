import type { ActivityCode } from '../declare/activities.ts';
import { isSo, type SourceState, type SourceStatus } from './status.ts';

/** How it is when what a source holds could not be applied, and no approval would help. */
const failures: readonly SourceState[] = ['invalid', 'conflicted', 'unavailable', 'failed'];

/**
 * The events that are sent when one status follows another: once when a source fails, for each kind of failure and each
 * content; once when it stalls; once when it recovers; and once in each long suspension.
 */
export function eventsBetween(before: SourceStatus, after: SourceStatus): readonly ActivityCode[] {
  const isOther = before.state !== after.state || before.observedDigest !== after.observedDigest;
  const events: readonly (readonly [ActivityCode, happened: boolean])[] = [
    ['config.failed', hasFailed(after) && isOther],
    ['config.source.stalled', stands(after) && !stands(before)],
    ['config.source.recovered', isUnwell(before) && !isUnwell(after)],
    ['config.source.suspended', before.remindedAt !== after.remindedAt],
  ];
  return events.filter(([, happened]) => happened).map(([code]) => code);
}

function hasFailed({ state }: SourceStatus): boolean {
  return failures.includes(state);
}

function stands(status: SourceStatus): boolean {
  return isSo(status, 'Stalled');
}

function isUnwell(status: SourceStatus): boolean {
  return hasFailed(status) || stands(status);
}

/** How long a source may be suspended before a reminder is sent. */
const reminderMs = 7 * 24 * 60 * 60 * 1000;

/** Whether a reminder that the source is suspended is due: once in each suspension. */
export function isReminderDue(status: SourceStatus, now: string): boolean {
  const since = status.conditions.find(({ type }) => type === 'Suspended')?.lastTransitionTime;
  if (since === undefined || !isSo(status, 'Suspended')) return false;
  if (status.remindedAt !== undefined && status.remindedAt >= since) return false;
  return Date.parse(now) - Date.parse(since) >= reminderMs;
}
