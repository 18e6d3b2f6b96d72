import type { EventFeed } from '../../model/declare/list-words.ts';
import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import type { Lease } from '../leases/leases.ts';
import type { Position } from './work.ts';

/** A delivery as its worker holds it. What it writes is refused when the lease is lost, or people moved the cursor. */
export interface HeldDelivery extends Position {
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

/**
 * The clause `moved`, which changes what is known about one cursor, and about its object whatever it receives; without a
 * row when the delivery is not held.
 */
function moved(feed: EventFeed, cursor: string, object = ''): string {
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

/** A statement that does nothing else. */
function move(feed: EventFeed, cursor: string, object?: string): string {
  return `with ${moved(feed, cursor, object)} select 1 from moved`;
}

const working = 'failures = 0, paused = false, reported = false, next_at = null, tried_revision = null';

const noBatch = 'batch_end = null, batch_left = null, look_at = null, look_behind = null';

/** Moves the cursor on: what is up to there was delivered, or nobody wants it. */
export function advance(
  database: Database,
  held: HeldDelivery,
  cursor: number,
  { delivered, note }: { readonly delivered: boolean; readonly note?: string | undefined },
): Promise<boolean> {
  const { feed } = held;
  if (!delivered) return write(database, held, move(feed, `cursor = $6, ${noBatch}`), [cursor]);
  return write(database, held, move(feed, `cursor = $6, ${noBatch}`, delivering), [cursor, note ?? null]);
}

const delivering = `${working}, last_success_at = clock_timestamp(), last_error = coalesce($7, last_error),
  last_error_at = case when $7::text is null then last_error_at else clock_timestamp() end`;

/** Remembers where a batch ends before it is sent, so that a repetition is the same batch. */
export function beginBatch(database: Database, held: HeldDelivery, end: number): Promise<boolean> {
  return write(database, held, move(held.feed, 'batch_end = $6, batch_left = null'), [end]);
}

/** Forgets the end of a batch: its events are sent one by one. */
export function endBatch(database: Database, held: HeldDelivery): Promise<boolean> {
  return write(database, held, move(held.feed, noBatch), []);
}

/** Leaves what waits for so long, or until so many events are behind the cursor. */
export function postpone(
  database: Database,
  held: HeldDelivery,
  { afterMs, behind }: { readonly afterMs: number; readonly behind: number },
): Promise<boolean> {
  return write(database, held, move(held.feed, postponed), [afterMs, behind]);
}

const postponed = `look_at = clock_timestamp() + $6::float8 * interval '1 millisecond', look_behind = $7`;

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
  const text = move(held.feed, 'batch_left = coalesce($10::bigint[], batch_left)', failing);
  return write(database, held, text, [reason, paused, waitMs, revision, left ?? null]);
}

const failing = `failures = failures + 1, paused = $7, last_error = $6, last_error_at = clock_timestamp(),
  next_at = clock_timestamp() + $8::float8 * interval '1 millisecond', tried_revision = $9`;

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
  const { feed } = held;
  const [table, key, values] =
    feed === 'audit'
      ? ['set_aside_events', 'event_id', '$6::bigint']
      : ['set_aside_records', 'feed, record_number', `'${feed}', $6::bigint`];
  const text = `with ${moved(feed, `cursor = greatest(cursor, $6), ${noBatch}`, refusing)}
insert into ${table} (account_id, channel_id, ${key}, reason, set_aside_at)
select $1, $2, ${values}, $7, clock_timestamp() from moved
on conflict (account_id, channel_id, ${key}) do update
  set reason = excluded.reason, set_aside_at = excluded.set_aside_at, retry = false
returning 1`;
  return write(database, held, text, [event, reason]);
}

const refusing = `${working}, last_error = $7, last_error_at = clock_timestamp()`;

/** Leaves events set aside that were to be sent again: nothing is sent any more. */
export function cancelRetries(database: Database, held: HeldDelivery): Promise<boolean> {
  const { table, which } = asideOf(held.feed);
  const text = `with held as (select from deliveries d where ${isHeld})
update ${table} set retry = false from held where ${which} and retry returning 1`;
  return write(database, held, text, []);
}

interface AsideTable {
  readonly table: string;
  /** The column with the number of an event. */
  readonly number: string;
  /** Which rows are of the delivery. */
  readonly which: string;
}

function asideOf(feed: EventFeed): AsideTable {
  const which = 'account_id = $1 and channel_id = $2';
  if (feed === 'audit') return { table: 'set_aside_events', number: 'event_id', which };
  return { table: 'set_aside_records', number: 'record_number', which: `${which} and feed = '${feed}'` };
}

/** Takes an event away that was set aside and is delivered now. */
export function endSetAside(database: Database, held: HeldDelivery, event: number): Promise<boolean> {
  const { table, number, which } = asideOf(held.feed);
  const text = `with done as (${updateHeld(`${working}, last_success_at = clock_timestamp()`)})
delete from ${table} using done where ${which} and ${number} = $6 returning 1`;
  return write(database, held, text, [event]);
}

/** Ends a delivery whose object is gone. */
export async function dropDelivery(database: Database, account: string, channel: string): Promise<void> {
  const text = `delete from deliveries d where account_id = $1 and channel_id = $2
    and not exists (select from objects o where o.account_id = $1 and o.id = $2)`;
  await database.inAccount(account, [statement(text, [account, channel])]);
}
