import type { JsonObject } from '../../lib/json.ts';
import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** An audit event as it is delivered. */
export interface EventRow {
  readonly id: number;
  readonly created_at: Date;
  readonly activity_code: string;
  readonly initiator_id: string;
  readonly initiator_name: string;
  readonly initiator_email: string;
  readonly target_id: string;
  readonly meta: JsonObject;
}

/** A delivery with its object, as they are at one moment. */
export interface DeliveryRow {
  readonly cursor: number;
  /** Where the batch ends that was begun; `null`: none was, or it is one event. */
  readonly batch_end: number | null;
  /** The events of that batch that the receiver did not take; `null`: all of them. */
  readonly batch_left: readonly number[] | null;
  readonly generation: number;
  readonly failures: number;
  readonly paused: boolean;
  /** Whether an event says already that it fails. */
  readonly reported: boolean;
  /** Not yet over, in milliseconds; 0 or less: it may be tried. */
  readonly wait_ms: number;
  /** The version of the object at the last failure. */
  readonly tried_revision: number | null;
  readonly kind: string;
  /** `null`: the object is gone. */
  readonly spec: JsonObject | null;
  readonly updated_revision: number | null;
  /** The number of the newest event of the account. */
  readonly newest: number;
  readonly set_aside: number;
}

/** How many events are read at the most: the last of them may go beyond the bytes. */
export interface ReadLimits {
  readonly events: number;
  readonly bytes: number;
}

/** What a server needs to go on with a delivery. */
export interface DeliveryWork {
  readonly row: DeliveryRow;
  /** The first events behind the cursor, in order; fewer than asked for when they are all, or have many bytes. */
  readonly events: readonly EventRow[];
  /** The first of those that are to be sent again. */
  readonly again: EventRow | undefined;
}

const eventColumns =
  'e.id, e.created_at, e.activity_code, e.initiator_id, e.initiator_name, e.initiator_email, e.target_id, e.meta';

/** About what an event has besides what is in `meta`, in bytes. */
const usualBytes = 300;

/**
 * Reads a delivery with the events behind its cursor; `undefined` when there is none. Events of an account are numbered
 * under the lock of its head row, which is held until they are committed: who sees one sees all before it, so nothing can
 * come up later behind the cursor.
 */
export async function readWork(
  database: Database,
  account: string,
  channel: string,
  { events: most, bytes }: ReadLimits,
): Promise<DeliveryWork | undefined> {
  const [[row], events, [again]] = await database.inAccount(
    account,
    [
      statement<DeliveryRow>(rowText, [account, channel]),
      statement<EventRow>(eventsText, [account, channel, most, bytes]),
      statement<EventRow>(againText, [account, channel]),
    ],
    { snapshot: true },
  );
  return row === undefined ? undefined : { row, events, again };
}

const rowText = `select d.cursor, d.batch_end, d.batch_left, d.generation, d.failures, d.paused, d.reported, d.tried_revision,
  coalesce(extract(epoch from d.next_at - clock_timestamp()) * 1000, 0)::float8 as wait_ms,
  d.kind, o.spec, o.updated_revision, a.audit_sequence as newest,
  (select count(*)::int from set_aside_events s where s.account_id = d.account_id and s.channel_id = d.channel_id) as set_aside
from deliveries d
join accounts a on a.account_id = d.account_id
left join objects o on o.account_id = d.account_id and o.id = d.channel_id
where d.account_id = $1 and d.channel_id = $2`;

const eventsText = `select ${eventColumns} from (
  select e.*, sum(${usualBytes} + octet_length(e.meta::text)) over (order by e.id rows between unbounded preceding and 1 preceding) as bytes
  from (
    select * from audit_events
    where account_id = $1 and id > (select cursor from deliveries where account_id = $1 and channel_id = $2)
    order by id limit $3
  ) e
) e where coalesce(e.bytes, 0) < $4 order by e.id`;

const againText = `select ${eventColumns} from set_aside_events s
join audit_events e on e.account_id = s.account_id and e.id = s.event_id
where s.account_id = $1 and s.channel_id = $2 and s.retry
order by s.event_id limit 1`;
