import type { JsonObject } from '../../lib/json.ts';
import type { EventFeed } from '../../model/declare/list-words.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';
import { type Feed, feedsByName } from '../logs/feeds.ts';
import { readRecordsAfter } from './records.ts';

/** An audit event or a record of a feed, to deliver. */
export interface EventRow {
  readonly id: number;
  readonly created_at: Date;
  readonly activity_code: string;
  readonly initiator_id: string;
  readonly initiator_name: string;
  readonly initiator_email: string;
  readonly target_id: string;
  /** Absent: the name is in `meta`. */
  readonly target_name?: string;
  readonly meta: JsonObject;
  /** HTTP request that caused the event. Absent or null when no request did. */
  readonly http_request?: string | null;
}

/** A delivery and its object, read in one snapshot. */
export interface DeliveryRow {
  readonly cursor: number;
  /** End of the batch that was begun. Null when no batch was begun, or when it is a single event. */
  readonly batch_end: number | null;
  /** Events of that batch that the receiver did not accept. Null: all of them. */
  readonly batch_left: readonly number[] | null;
  readonly generation: number;
  readonly failures: number;
  readonly paused: boolean;
  /** Whether an audit event has reported the failure already. */
  readonly reported: boolean;
  /** Milliseconds until the next attempt is allowed. 0 or less: allowed now. */
  readonly wait_ms: number;
  /** Revision of the object at the last failure. */
  readonly tried_revision: number | null;
  readonly kind: string;
  /** Null when the object no longer exists. */
  readonly spec: JsonObject | null;
  readonly updated_revision: number | null;
  /** Number of the newest event of the account, or of the newest record of the feed. */
  readonly newest: number;
  readonly set_aside: number;
}

/** Maximum numbers of events and bytes to read. The last event may exceed the bytes. */
export interface ReadLimits {
  readonly events: number;
  readonly bytes: number;
}

/** Identifies a cursor. */
export interface CursorRef {
  readonly account: string;
  readonly channel: string;
  readonly feed: EventFeed;
}

/** Data that a server needs to continue a delivery. */
export interface DeliveryWork {
  readonly row: DeliveryRow;
  /**
   * First events after the cursor, in order. Fewer than requested when there are no more, or when they exceed the
   * bytes.
   */
  readonly events: readonly EventRow[];
  /** First set-aside event that is to be sent again. */
  readonly eventToRetry: EventRow | undefined;
}

const eventColumns =
  'e.id, e.created_at, e.activity_code, e.initiator_id, e.initiator_name, e.initiator_email, e.target_id, e.meta, e.http_request';

/** Approximate size of an event without its `meta`, in bytes. */
const approximateEventBytes = 300;

/**
 * Reads a delivery and the events after its cursor. Returns `undefined` when there is none. Events of an account are
 * numbered under the lock of its head row, which is held until they are committed. A reader that sees an event
 * therefore sees all events before it, and no event can appear later behind the cursor.
 */
export async function readWork(
  database: Database,
  { account, channel, feed }: CursorRef,
  limits: ReadLimits,
): Promise<DeliveryWork | undefined> {
  if (feed !== 'audit') return readRecordWork(database, { account, channel, feed }, limits);
  const { events: most, bytes } = limits;
  const [[row], events, [again]] = await database.inAccount(
    account,
    [
      statement<DeliveryRow>(rowText(auditCursorSql), [account, channel]),
      statement<EventRow>(eventsText, [account, channel, most, bytes]),
      statement<EventRow>(eventToRetryText, [account, channel]),
    ],
    { snapshot: true },
  );
  return row === undefined ? undefined : { row, events, eventToRetry: again };
}

/** Same as `readWork`, for the records of a feed. They are numbered under the lock of a row of the feed. */
async function readRecordWork(
  database: Database,
  { account, channel, feed: name }: CursorRef & { readonly feed: Feed['name'] },
  limits: ReadLimits,
): Promise<DeliveryWork | undefined> {
  const [[row], [again]] = await database.inAccount(
    account,
    [
      statement<DeliveryRow>(rowText(recordCursorSql(name)), [account, channel]),
      statement<{ readonly number: number }>(recordToRetryText, [account, channel, name]),
    ],
    { snapshot: true },
  );
  if (row === undefined) return undefined;
  const feed = feedsByName[name];
  const read = (after: number, most: ReadLimits) => readRecordsAfter(database, { feed, account, after }, most);
  const events = limits.events === 0 ? [] : await read(row.cursor, limits);
  const [first] = again === undefined ? [] : await read(again.number - 1, { events: 1, bytes: 1 });
  return { row, events, eventToRetry: first?.id === again?.number ? first : undefined };
}

/** SQL fragments that read the state of a cursor. */
interface CursorSql {
  /** Alias of the row that contains the state. */
  readonly row: 'd' | 'p';
  readonly joins: string;
  readonly newest: string;
  readonly setAside: string;
}

const auditCursorSql: CursorSql = {
  ...{ row: 'd', joins: '', newest: 'a.audit_sequence' },
  setAside: 'set_aside_events s where s.account_id = d.account_id and s.channel_id = d.channel_id',
};

function recordCursorSql(feed: Feed['name']): CursorSql {
  return {
    row: 'p',
    joins: `join record_deliveries p on p.account_id = d.account_id and p.channel_id = d.channel_id and p.feed = '${feed}'
join feed_numbers n on n.account_id = d.account_id and n.feed = '${feed}'`,
    newest: 'n.last',
    setAside: `set_aside_records s where s.account_id = d.account_id and s.channel_id = d.channel_id and s.feed = '${feed}'`,
  };
}

function rowText({ row, joins, newest, setAside }: CursorSql): string {
  return `select ${row}.cursor, ${row}.batch_end, ${row}.batch_left, d.generation, d.failures, d.paused, d.reported,
  d.tried_revision, coalesce(extract(epoch from d.next_at - clock_timestamp()) * 1000, 0)::float8 as wait_ms,
  d.kind, o.spec, o.updated_revision, ${newest} as newest, (select count(*)::int from ${setAside}) as set_aside
from deliveries d
join accounts a on a.account_id = d.account_id
${joins}
left join objects o on o.account_id = d.account_id and o.id = d.channel_id
where d.account_id = $1 and d.channel_id = $2`;
}

const eventsText = `select ${eventColumns} from (
  select e.*, sum(${approximateEventBytes} + octet_length(e.meta::text)) over (order by e.id rows between unbounded preceding and 1 preceding) as bytes
  from (
    select * from audit_events
    where account_id = $1 and id > (select cursor from deliveries where account_id = $1 and channel_id = $2)
    order by id limit $3
  ) e
) e where coalesce(e.bytes, 0) < $4 order by e.id`;

const eventToRetryText = `select ${eventColumns} from set_aside_events s
join audit_events e on e.account_id = s.account_id and e.id = s.event_id
where s.account_id = $1 and s.channel_id = $2 and s.retry
order by s.event_id limit 1`;

const recordToRetryText = `select s.record_number as number from set_aside_records s
where s.account_id = $1 and s.channel_id = $2 and s.feed = $3 and s.retry
order by s.record_number limit 1`;
