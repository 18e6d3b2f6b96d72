import type { JsonObject } from '../../lib/json.ts';
import type { ActivityCode, ActivityStem } from '../../model/declare/activities.ts';
import type { AuditEvent } from '../../model/declare/kind.ts';

/** What the codes of a flag begin with. */
export type SwitchStem = ActivityStem<'enable', 'disable'>;

/** The event, if there is one. */
export function eventsIf(happened: boolean, code: ActivityCode, meta: AuditEvent['meta']): readonly AuditEvent[] {
  return happened ? [{ code, meta }] : [];
}

/** The events of flags that were switched: `<stem>.enable` or `<stem>.disable`, by field. */
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
