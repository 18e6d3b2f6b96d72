import { isSo, type SourceStatus } from './source-status.ts';

/** What is told when one status follows another: once when a source comes to a stand, and once when it goes on. */
export function eventBetween(before: SourceStatus, after: SourceStatus): string | undefined {
  const [was, is] = [isSo(before, 'Stalled'), isSo(after, 'Stalled')];
  if (was === is) return undefined;
  return is ? 'config.source.stalled' : 'config.source.recovered';
}

/** How long a source may be suspended before somebody is reminded of it. */
const reminderMs = 7 * 24 * 60 * 60 * 1000;

/** Whether somebody is to be reminded that the source is suspended: once in each suspension. */
export function isReminderDue(status: SourceStatus, now: string): boolean {
  const since = status.conditions.find(({ type }) => type === 'Suspended')?.lastTransitionTime;
  if (since === undefined || !isSo(status, 'Suspended')) return false;
  if (status.remindedAt !== undefined && status.remindedAt >= since) return false;
  return Date.parse(now) - Date.parse(since) >= reminderMs;
}
