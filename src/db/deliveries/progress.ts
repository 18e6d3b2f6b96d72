import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';

/** A delivery as its worker holds it. What it writes is refused when the lease is lost, or people moved the cursor. */
export interface HeldDelivery {
  readonly account: string;
  readonly channel: string;
  readonly generation: number;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

type Values = readonly (string | number | boolean | null | readonly number[])[];

/** What a write says: `false` when it was refused. */
async function write(database: Database, held: HeldDelivery, text: string, values: Values): Promise<boolean> {
  const { account, channel, generation, lease } = held;
  const [rows] = await database.inAccount(
    account,
    [statement<object>(text, [account, channel, generation, lease.name, lease.fence, ...values])],
    { write: true },
  );
  return rows.length > 0;
}

const isHeld = `d.account_id = $1 and d.channel_id = $2 and d.generation = $3 and exists (
  select from leases l where l.account_id = $1 and l.name = $4 and l.fence = $5 and l.until > clock_timestamp())`;

const working = 'failures = 0, paused = false, reported = false, next_at = null, tried_revision = null';

const noBatch = 'batch_end = null, batch_left = null, look_at = null, look_behind = null';

/** Moves the cursor on: what is up to there was delivered, or nobody wants it. */
export function advance(
  database: Database,
  held: HeldDelivery,
  cursor: number,
  { delivered, note }: { readonly delivered: boolean; readonly note?: string | undefined },
): Promise<boolean> {
  if (!delivered) return write(database, held, skippedText, [cursor]);
  return write(database, held, deliveredText, [cursor, note ?? null]);
}

const deliveredText = `update deliveries d set cursor = $6, ${noBatch}, ${working}, last_success_at = clock_timestamp(),
  last_error = coalesce($7, last_error), last_error_at = case when $7::text is null then last_error_at else clock_timestamp() end
where ${isHeld} returning 1`;
const skippedText = `update deliveries d set cursor = $6, ${noBatch} where ${isHeld} returning 1`;

/** Remembers where a batch ends before it is sent, so that a repetition is the same batch. */
export function beginBatch(database: Database, held: HeldDelivery, end: number): Promise<boolean> {
  return write(
    database,
    held,
    `update deliveries d set batch_end = $6, batch_left = null where ${isHeld} returning 1`,
    [end],
  );
}

/** Forgets the end of a batch: its events are sent one by one. */
export function endBatch(database: Database, held: HeldDelivery): Promise<boolean> {
  return write(database, held, `update deliveries d set ${noBatch} where ${isHeld} returning 1`, []);
}

/** Leaves what waits for so long, or until so many events are behind the cursor. */
export function postpone(
  database: Database,
  held: HeldDelivery,
  { afterMs, behind }: { readonly afterMs: number; readonly behind: number },
): Promise<boolean> {
  return write(database, held, postponeText, [afterMs, behind]);
}

const postponeText = `update deliveries d set look_at = clock_timestamp() + $6::float8 * interval '1 millisecond', look_behind = $7
where ${isHeld} returning 1`;

/** How an attempt failed. */
export interface Failure {
  readonly reason: string;
  readonly paused: boolean;
  /** In milliseconds: when it is tried again. */
  readonly waitMs: number;
  /** The version of the object: with another one it is tried at once. */
  readonly revision: number;
  /** The events of the batch that the receiver did not take; absent: it took none of those that were sent. */
  readonly left?: readonly number[] | undefined;
}

/** Notes a failed attempt; with an entry for the audit log, in the same transaction. */
export function noteFailure(
  database: Database,
  held: HeldDelivery,
  { reason, paused, waitMs, revision, left }: Failure,
): Promise<boolean> {
  return write(database, held, failureText, [reason, paused, waitMs, revision, left ?? null]);
}

const failureText = `update deliveries d set failures = failures + 1, paused = $7, last_error = $6, last_error_at = clock_timestamp(),
  next_at = clock_timestamp() + $8::float8 * interval '1 millisecond', tried_revision = $9,
  batch_left = coalesce($10::bigint[], batch_left)
where ${isHeld} returning 1`;

/** Writes the audit event that says that a delivery fails, once for each time that it does. */
export async function reportFailure(database: Database, held: HeldDelivery, entry: AuditEntry): Promise<void> {
  const { account, channel, generation } = held;
  const parameters = [...auditParameters(account, entry), channel, generation];
  await database.inAccount(account, [statement(reportText, parameters)], { write: true });
}

const reportText = `with failing as (
  update deliveries set reported = true
  where account_id = $1 and channel_id = $9 and generation = $10 and not reported returning 1
), ${headAfter('failing')} ${insertAuditText}`;

/** Sets an event aside that its receiver refuses for what is in it, and moves the cursor behind it. */
export function setAside(database: Database, held: HeldDelivery, event: number, reason: string): Promise<boolean> {
  return write(database, held, setAsideText, [event, reason]);
}

const setAsideText = `with moved as (
  update deliveries d set cursor = greatest(cursor, $6), ${noBatch}, ${working},
    last_error = $7, last_error_at = clock_timestamp()
  where ${isHeld} returning 1
)
insert into set_aside_events (account_id, channel_id, event_id, reason, set_aside_at)
select $1, $2, $6, $7, clock_timestamp() from moved
on conflict (account_id, channel_id, event_id) do update
  set reason = excluded.reason, set_aside_at = excluded.set_aside_at, retry = false
returning 1`;

/** Leaves events set aside that were to be sent again: nothing is sent any more. */
export function cancelRetries(database: Database, held: HeldDelivery): Promise<boolean> {
  return write(database, held, cancelText, []);
}

const cancelText = `with held as (select from deliveries d where ${isHeld})
update set_aside_events set retry = false from held where account_id = $1 and channel_id = $2 and retry returning 1`;

/** Takes an event away that was set aside and is delivered now. */
export function endSetAside(database: Database, held: HeldDelivery, event: number): Promise<boolean> {
  return write(database, held, endSetAsideText, [event]);
}

const endSetAsideText = `with moved as (
  update deliveries d set ${working}, last_success_at = clock_timestamp() where ${isHeld} returning 1
)
delete from set_aside_events using moved where account_id = $1 and channel_id = $2 and event_id = $6 returning 1`;

/** Ends a delivery whose object is gone. */
export async function dropDelivery(database: Database, account: string, channel: string): Promise<void> {
  const text = `delete from deliveries d where account_id = $1 and channel_id = $2
    and not exists (select from objects o where o.account_id = $1 and o.id = $2)`;
  await database.inAccount(account, [statement(text, [account, channel])]);
}
