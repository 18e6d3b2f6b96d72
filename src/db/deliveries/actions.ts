import type { EventFeed } from '../../model/declare/list-words.ts';
import { type AuditEntry, auditParameters, headAfter, headText, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { feeds } from '../logs/feeds.ts';
import { numberBefore } from './records.ts';

/** An action of a user on a delivery. */
export interface DeliveryAction {
  readonly account: string;
  readonly channel: string;
  readonly entry: AuditEntry;
}

type Values = readonly (string | number | null)[];

/**
 * Runs the clauses, and writes the audit event of the action when the clause `done` returns a row. Returns whether it
 * did.
 */
async function runAction(
  database: Database,
  action: DeliveryAction,
  clauses: string,
  values: Values,
): Promise<boolean> {
  const { account, channel, entry } = action;
  const text = `with ${clauses}, ${headAfter('done')} ${insertAuditText} returning 1`;
  const parameters = [...auditParameters(account, entry), channel, ...values];
  const [rows] = await database.inAccount(account, [statement<object>(text, parameters)], { write: true });
  return rows.length > 0;
}

/**
 * Resumes a delivery at once. With `since` (ISO 8601), the delivery starts again from the events that happened since
 * that time. A server that is delivering starts again.
 */
export async function resumeDelivery(database: Database, action: DeliveryAction, since?: string): Promise<boolean> {
  const cursors: Record<string, number> = {};
  for (const feed of since === undefined ? [] : feeds)
    cursors[feed.name] = await numberBefore(database, feed, action.account, since ?? '');
  return runAction(database, action, resumeText, [since ?? null, JSON.stringify(cursors)]);
}

const resumeText = `records as (
  update record_deliveries p set look_at = null, look_behind = null,
    batch_end = case when $10::timestamptz is null then batch_end end,
    batch_left = case when $10::timestamptz is null then batch_left end,
    cursor = coalesce(($11::jsonb ->> p.feed)::bigint, p.cursor)
  where p.account_id = $1 and p.channel_id = $9
), done as (
update deliveries d set generation = generation + 1, failures = 0, paused = false, reported = false,
  next_at = null, tried_revision = null, look_at = null, look_behind = null,
  batch_end = case when $10::timestamptz is null then batch_end end,
  batch_left = case when $10::timestamptz is null then batch_left end,
  cursor = case when $10::timestamptz is null then cursor else coalesce(
    (select min(e.id) - 1 from audit_events e where e.account_id = $1 and e.created_at >= $10::timestamptz),
    (select a.audit_sequence from accounts a where a.account_id = $1)) end
where d.account_id = $1 and d.channel_id = $9 returning 1)`;

/** A set-aside event, or a set-aside record of a feed. */
export interface SetAsideEvent {
  readonly feed: EventFeed;
  readonly number: number;
}

/** Marks set-aside events to be sent again: one event, or all of them. Returns false when there is none. */
export function retrySetAside(database: Database, action: DeliveryAction, event?: SetAsideEvent): Promise<boolean> {
  const text = setAsideText((table) => `update ${table} set retry = true`);
  return runAction(database, action, text, [event?.feed ?? null, event?.number ?? null]);
}

/** Deletes set-aside events: one event, or all of them. Returns false when there is none. */
export function discardSetAside(database: Database, action: DeliveryAction, event?: SetAsideEvent): Promise<boolean> {
  const text = setAsideText((table) => `delete from ${table}`);
  return runAction(database, action, text, [event?.feed ?? null, event?.number ?? null]);
}

function setAsideText(change: (table: string) => string): string {
  const which = (feed: string, number: string) =>
    `account_id = $1 and channel_id = $9 and ($10::text is null or (${feed} = $10::text and ${number} = $11::bigint))`;
  return `events as (${change('set_aside_events')} where ${which("'audit'", 'event_id')} returning 1),
records as (${change('set_aside_records')} where ${which('feed', 'record_number')} returning 1),
done as (select from events union all select from records)`;
}

/** Writes the audit event that is sent as a sample. Returns its number. */
export async function recordSample(database: Database, account: string, entry: AuditEntry): Promise<number> {
  const text = `with ${headText} ${insertAuditText} returning id`;
  const [[row]] = await database.inAccount(
    account,
    [statement<{ readonly id: number }>(text, auditParameters(account, entry))],
    { write: true },
  );
  return row?.id ?? 0;
}
