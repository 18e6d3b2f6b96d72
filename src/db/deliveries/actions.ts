import { type AuditEntry, auditParameters, headAfter, headText, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** What people do about one delivery. */
export interface DeliveryAction {
  readonly account: string;
  readonly channel: string;
  readonly entry: AuditEntry;
}

type Values = readonly (string | number | null)[];

/** Does it and writes its audit event; returns whether there was anything to do. */
async function act(database: Database, action: DeliveryAction, clause: string, values: Values): Promise<boolean> {
  const { account, channel, entry } = action;
  const text = `with done as (${clause}), ${headAfter('done')} ${insertAuditText} returning 1`;
  const parameters = [...auditParameters(account, entry), channel, ...values];
  const [rows] = await database.inAccount(account, [statement<object>(text, parameters)], { write: true });
  return rows.length > 0;
}

/**
 * Has a delivery go on at once; from what happened since a time, when one is given (ISO 8601). A server that is at it begins anew.
 */
export function resumeDelivery(database: Database, action: DeliveryAction, since?: string): Promise<boolean> {
  return act(database, action, resumeText, [since ?? null]);
}

const resumeText = `update deliveries d set generation = generation + 1, failures = 0, paused = false, reported = false,
  next_at = null, tried_revision = null, look_at = null, look_behind = null,
  batch_end = case when $10::timestamptz is null then batch_end end,
  batch_left = case when $10::timestamptz is null then batch_left end,
  cursor = case when $10::timestamptz is null then cursor else coalesce(
    (select min(e.id) - 1 from audit_events e where e.account_id = $1 and e.created_at >= $10::timestamptz),
    (select a.audit_sequence from accounts a where a.account_id = $1)) end
where d.account_id = $1 and d.channel_id = $9 returning 1`;

/** Has events sent again that were set aside: one, or all. */
export function retrySetAside(database: Database, action: DeliveryAction, event?: number): Promise<boolean> {
  const text = `update set_aside_events set retry = true where ${chosen} returning 1`;
  return act(database, action, text, [event ?? null]);
}

/** Forgets events that were set aside: one, or all. */
export function discardSetAside(database: Database, action: DeliveryAction, event?: number): Promise<boolean> {
  return act(database, action, `delete from set_aside_events where ${chosen} returning 1`, [event ?? null]);
}

const chosen = 'account_id = $1 and channel_id = $9 and ($10::bigint is null or event_id = $10::bigint)';

/** Writes the audit event that stands for a sample; returns its number. */
export async function recordSample(database: Database, account: string, entry: AuditEntry): Promise<number> {
  const text = `with ${headText} ${insertAuditText} returning id`;
  const [[row]] = await database.inAccount(
    account,
    [statement<{ readonly id: number }>(text, auditParameters(account, entry))],
    { write: true },
  );
  return row?.id ?? 0;
}
