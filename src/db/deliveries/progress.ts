import type { EventFeed } from '../../model/declare/list-words.ts';
import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';
import type { CursorRef } from './work.ts';

/**
 * A delivery whose lease a worker holds. Its writes are refused when the lease is lost, or when a user has moved the
 * cursor.
 */
export interface HeldDelivery extends CursorRef {
  readonly generation: number;
  readonly lease: Pick<Lease, 'name' | 'fence'>;
}

type Values = readonly (string | number | boolean | null | readonly number[])[];

/** Runs a write of a held delivery. Returns false when the write was refused. */
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

/**
 * Returns the clause `moved`, which changes the row of a cursor with `cursor`, and the row of its object's delivery
 * with `object`. It returns no row when the delivery is not held.
 */
function movedClause(feed: EventFeed, cursor: string, object = ''): string {
  if (feed === 'audit')
    return `moved as (update deliveries d set ${[cursor, object].filter((set) => set !== '').join(', ')} where ${isHeld} returning 1)`;
  const held = object === '' ? `select from deliveries d where ${isHeld} for update` : updateHeld(object);
  return `held as (${held}), moved as (
  update record_deliveries p set ${cursor} from held
  where p.account_id = $1 and p.channel_id = $2 and p.feed = '${feed}' returning 1
)`;
}

function updateHeld(object: string): string {
  return `update deliveries d set ${object} where ${isHeld} returning 1`;
}

/** Returns a statement that contains only the clause `moved`. */
function moveStatement(feed: EventFeed, cursor: string, object?: string): string {
  return `with ${movedClause(feed, cursor, object)} select 1 from moved`;
}

const resetFailuresText = 'failures = 0, paused = false, reported = false, next_at = null, tried_revision = null';

const clearBatchText = 'batch_end = null, batch_left = null, look_at = null, look_behind = null';

/** Moves the cursor forward. The events up to it were delivered, or, with `delivered` false, need not be delivered. */
export function advanceCursor(
  database: Database,
  held: HeldDelivery,
  cursor: number,
  { delivered, note }: { readonly delivered: boolean; readonly note?: string | undefined },
): Promise<boolean> {
  const { feed } = held;
  if (!delivered) return write(database, held, moveStatement(feed, `cursor = $6, ${clearBatchText}`), [cursor]);
  return write(database, held, moveStatement(feed, `cursor = $6, ${clearBatchText}`, recordSuccessText), [
    cursor,
    note ?? null,
  ]);
}

const recordSuccessText = `${resetFailuresText}, last_success_at = clock_timestamp(), last_error = coalesce($7, last_error),
  last_error_at = case when $7::text is null then last_error_at else clock_timestamp() end`;

/** Stores the end of a batch before the batch is sent, so that a retry sends the same batch. */
export function beginBatch(database: Database, held: HeldDelivery, end: number): Promise<boolean> {
  return write(database, held, moveStatement(held.feed, 'batch_end = $6, batch_left = null'), [end]);
}

/** Deletes the end of a batch, so that its events are sent one by one. */
export function endBatch(database: Database, held: HeldDelivery): Promise<boolean> {
  return write(database, held, moveStatement(held.feed, clearBatchText), []);
}

/** Postpones waiting events for `afterMs` milliseconds, or until `behind` events are after the cursor. */
export function postponeEvents(
  database: Database,
  held: HeldDelivery,
  { afterMs, behind }: { readonly afterMs: number; readonly behind: number },
): Promise<boolean> {
  return write(database, held, moveStatement(held.feed, postponeText), [afterMs, behind]);
}

const postponeText = `look_at = clock_timestamp() + $6::float8 * interval '1 millisecond', look_behind = $7`;

/** A failed attempt of a delivery. */
export interface DeliveryFailure {
  readonly reason: string;
  readonly paused: boolean;
  /** Milliseconds until the next attempt. */
  readonly waitMs: number;
  /** Revision of the object at the attempt. When the object changes, the delivery is retried at once. */
  readonly revision: number;
  /** Events of the batch that the receiver did not accept. Absent: it accepted none of the sent events. */
  readonly unacceptedEvents?: readonly number[] | undefined;
}

/** Records a failed attempt. */
export function recordFailure(
  database: Database,
  held: HeldDelivery,
  { reason, paused, waitMs, revision, unacceptedEvents }: DeliveryFailure,
): Promise<boolean> {
  const text = moveStatement(held.feed, 'batch_left = coalesce($10::bigint[], batch_left)', recordFailureText);
  return write(database, held, text, [reason, paused, waitMs, revision, unacceptedEvents ?? null]);
}

const recordFailureText = `failures = failures + 1, paused = $7, last_error = $6, last_error_at = clock_timestamp(),
  next_at = clock_timestamp() + $8::float8 * interval '1 millisecond', tried_revision = $9`;

/**
 * Writes the audit event that reports a failing delivery. Writes it once per failure, until the delivery works again.
 */
export async function reportFailure(database: Database, held: HeldDelivery, entry: AuditEntry): Promise<void> {
  const { account, channel, generation } = held;
  const parameters = [...auditParameters(account, entry), channel, generation];
  await database.inAccount(account, [statement(reportText, parameters)], { write: true });
}

const reportText = `with failing as (
  update deliveries set reported = true
  where account_id = $1 and channel_id = $9 and generation = $10 and not reported returning 1
), ${headAfter('failing')} ${insertAuditText}`;

/** Sets aside an event that its receiver rejects for its content, and moves the cursor past it. */
export function setEventAside(database: Database, held: HeldDelivery, event: number, reason: string): Promise<boolean> {
  const { feed } = held;
  const [table, key, values] =
    feed === 'audit'
      ? ['set_aside_events', 'event_id', '$6::bigint']
      : ['set_aside_records', 'feed, record_number', `'${feed}', $6::bigint`];
  const text = `with ${movedClause(feed, `cursor = greatest(cursor, $6), ${clearBatchText}`, recordRefusalText)}
insert into ${table} (account_id, channel_id, ${key}, reason, set_aside_at)
select $1, $2, ${values}, $7, clock_timestamp() from moved
on conflict (account_id, channel_id, ${key}) do update
  set reason = excluded.reason, set_aside_at = excluded.set_aside_at, retry = false
returning 1`;
  return write(database, held, text, [event, reason]);
}

const recordRefusalText = `${resetFailuresText}, last_error = $7, last_error_at = clock_timestamp()`;

/** Cancels the retry of set-aside events. They stay set aside, because nothing is sent any more. */
export function cancelRetries(database: Database, held: HeldDelivery): Promise<boolean> {
  const { table, which } = setAsideTableOf(held.feed);
  const text = `with held as (select from deliveries d where ${isHeld})
update ${table} set retry = false from held where ${which} and retry returning 1`;
  return write(database, held, text, []);
}

interface SetAsideTable {
  readonly table: string;
  /** Column that contains the number of an event. */
  readonly number: string;
  /** Condition that selects the rows of the delivery. */
  readonly which: string;
}

function setAsideTableOf(feed: EventFeed): SetAsideTable {
  const which = 'account_id = $1 and channel_id = $2';
  if (feed === 'audit') return { table: 'set_aside_events', number: 'event_id', which };
  return { table: 'set_aside_records', number: 'record_number', which: `${which} and feed = '${feed}'` };
}

/** Deletes a set-aside event that has been delivered now. */
export function deleteSetAside(database: Database, held: HeldDelivery, event: number): Promise<boolean> {
  const { table, number, which } = setAsideTableOf(held.feed);
  const text = `with done as (${updateHeld(`${resetFailuresText}, last_success_at = clock_timestamp()`)})
delete from ${table} using done where ${which} and ${number} = $6 returning 1`;
  return write(database, held, text, [event]);
}

/** Deletes a delivery whose object no longer exists. */
export async function dropDelivery(database: Database, account: string, channel: string): Promise<void> {
  const text = `delete from deliveries d where account_id = $1 and channel_id = $2
    and not exists (select from objects o where o.account_id = $1 and o.id = $2)`;
  await database.inAccount(account, [statement(text, [account, channel])]);
}
