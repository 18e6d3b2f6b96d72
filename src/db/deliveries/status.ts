import type { EventFeed } from '../../model/declare/list-words.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Stored status of a delivery. */
export interface DeliveryStatusRow {
  readonly channel_id: string;
  readonly cursor: number;
  readonly failures: number;
  readonly paused: boolean;
  readonly next_at: Date | null;
  readonly last_success_at: Date | null;
  readonly last_error: string | null;
  readonly last_error_at: Date | null;
  readonly set_aside: number;
  /** Cursor and number of waiting records, by feed. */
  readonly records: Readonly<Record<string, { readonly cursor: number; readonly behind: number }>>;
  /** Whether a server is processing the delivery. */
  readonly active: boolean;
}

/** Returns the deliveries of an account whose objects exist. */
export async function listDeliveries(database: Database, account: string): Promise<readonly DeliveryStatusRow[]> {
  const [rows] = await database.inAccount(account, [statement<DeliveryStatusRow>(listText, [account])]);
  return rows;
}

const listText = `select d.channel_id, d.cursor, d.failures, d.paused, d.next_at, d.last_success_at, d.last_error, d.last_error_at,
  (select count(*)::int from set_aside_events s where s.account_id = d.account_id and s.channel_id = d.channel_id)
    + (select count(*)::int from set_aside_records s where s.account_id = d.account_id and s.channel_id = d.channel_id) as set_aside,
  (select coalesce(jsonb_object_agg(p.feed, jsonb_build_object('cursor', p.cursor, 'behind', n.last - p.cursor)), '{}')
    from record_deliveries p join feed_numbers n on n.account_id = p.account_id and n.feed = p.feed
    where p.account_id = d.account_id and p.channel_id = d.channel_id and p.cursor < n.last) as records,
  exists (select from leases l where l.account_id = d.account_id and l.name = 'delivery/' || d.channel_id
    and l.until > clock_timestamp()) as active
from deliveries d join objects o on o.account_id = d.account_id and o.id = d.channel_id
where d.account_id = $1 order by d.channel_id`;

/** A set-aside event or record. */
export interface SetAsideRow {
  readonly channel_id: string;
  readonly feed: EventFeed;
  readonly event_id: number;
  /** Null for a record. */
  readonly activity_code: string | null;
  readonly reason: string;
  readonly set_aside_at: Date;
  readonly retry: boolean;
}

/** Returns the first `limit` set-aside events of each channel. */
export async function listSetAside(
  database: Database,
  account: string,
  limit: number,
): Promise<readonly SetAsideRow[]> {
  const [rows] = await database.inAccount(account, [statement<SetAsideRow>(setAsideText, [account, limit])]);
  return rows;
}

const setAsideText = `select s.channel_id, s.feed, s.event_id, e.activity_code, s.reason, s.set_aside_at, s.retry
from (
  select *, row_number() over (partition by channel_id order by feed, event_id) as rank from (
    select account_id, channel_id, 'audit' as feed, event_id, reason, set_aside_at, retry from set_aside_events
    union all
    select account_id, channel_id, feed, record_number, reason, set_aside_at, retry from set_aside_records
  ) aside where account_id = $1
) s
left join audit_events e on s.feed = 'audit' and e.account_id = s.account_id and e.id = s.event_id
where s.rank <= $2
order by s.channel_id, s.feed, s.event_id`;

/** An event after a cursor. */
interface WaitingEventRow {
  readonly activity_code: string;
  readonly target_id: string;
  readonly created_at: Date;
}

/** Returns the first events after a cursor, with their types and times. */
export async function readWaitingEvents(
  database: Database,
  account: string,
  cursor: number,
  limit: number,
): Promise<readonly WaitingEventRow[]> {
  const [rows] = await database.inAccount(account, [statement<WaitingEventRow>(waitingText, [account, cursor, limit])]);
  return rows;
}

const waitingText = `select activity_code, target_id, created_at from audit_events
where account_id = $1 and id > $2 order by id limit $3`;
