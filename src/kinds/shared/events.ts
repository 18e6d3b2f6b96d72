import type { JsonObject } from '../../lib/json.ts';
import type { ActivityCode, ActivityStem } from '../../model/declare/activities.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';

/** Prefix of the two activity codes of a flag. */
export type SwitchStem = ActivityStem<'enable', 'disable'>;

/** Returns one event if `happened`, otherwise none. */
export function eventsIf(happened: boolean, code: ActivityCode, meta: AuditEvent['meta']): readonly AuditEvent[] {
  return happened ? [{ code, meta }] : [];
}

/** Returns the events of changed flags: `<stem>.enable` or `<stem>.disable`. `stems` is keyed by field. */
export function switchEvents(
  stems: Readonly<Record<string, SwitchStem>>,
  before: JsonObject,
  after: JsonObject,
  meta: Readonly<Record<string, string>>,
): readonly AuditEvent[] {
  return Object.entries(stems)
    .filter(([field]) => before[field] !== after[field])
    .map(([field, stem]) => ({ code: `${stem}.${after[field] === true ? 'enable' : 'disable'}`, meta }));
}
