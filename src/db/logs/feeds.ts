import type { CompiledQuery } from 'kysely';
import { statement, unpreparedStatementPrefix } from '../builder.ts';

/** A log with many writes and no changes: a table that is partitioned by time. */
export interface Feed {
  /** Name under which roll-ups and values of the feed are stored. */
  readonly name: 'proxy' | 'traffic';
  readonly table: 'proxy_log' | 'traffic_log';
  /** Table with the numbers of the records to deliver, partitioned like `table`. */
  readonly numbersTable: `${Feed['table']}_numbers`;
  /** Columns after `account_id`, with their types. */
  readonly columns: Readonly<Record<string, string>>;
  /** Event code of the records, which receivers of events see. */
  readonly eventCode: string;
  /** Other columns of the event that receivers get, as SQL for a select list. */
  readonly eventColumns: string;
}

/** Log of requests through reverse proxies. */
export const proxyFeed: Feed = {
  name: 'proxy',
  table: 'proxy_log',
  numbersTable: 'proxy_log_numbers',
  columns: {
    timestamp: 'timestamptz',
    id: 'text',
    service_id: 'text',
    method: 'text',
    host: 'text',
    path: 'text',
    duration_ms: 'bigint',
    status_code: 'int',
    source_ip: 'text',
    reason: 'text',
    user_id: 'text',
    auth_method_used: 'text',
    country_code: 'text',
    city_name: 'text',
    subdivision_code: 'text',
    bytes_upload: 'bigint',
    bytes_download: 'bigint',
    protocol: 'text',
    metadata: 'jsonb',
    slice: 'bigint',
    path_key: 'bigint',
    terms: 'int[]',
  },
  eventCode: 'proxy.access',
  eventColumns: `user_id as initiator_id, '' as initiator_name, '' as initiator_email,
  service_id as target_id, host as target_name, jsonb_strip_nulls(jsonb_build_object('id', id, 'service_id', service_id,
  'method', method, 'host', host, 'path', path, 'duration_ms', duration_ms, 'status_code', status_code,
  'source_ip', nullif(source_ip, ''), 'reason', nullif(reason, ''), 'user_id', nullif(user_id, ''),
  'auth_method_used', nullif(auth_method_used, ''), 'country_code', nullif(country_code, ''),
  'city_name', nullif(city_name, ''), 'subdivision_code', nullif(subdivision_code, ''), 'bytes_upload', bytes_upload,
  'bytes_download', bytes_download, 'protocol', nullif(protocol, ''), 'metadata', metadata)) as meta`,
};

/** Log of flows between peers, as peers report them. */
export const trafficFeed: Feed = {
  name: 'traffic',
  table: 'traffic_log',
  numbersTable: 'traffic_log_numbers',
  columns: {
    timestamp: 'timestamptz',
    id: 'text',
    flow_id: 'text',
    reporter_id: 'text',
    source_id: 'text',
    source_address: 'text',
    source_key: 'bigint',
    destination_id: 'text',
    destination_address: 'text',
    destination_key: 'bigint',
    user_id: 'text',
    protocol: 'int',
    direction: 'text',
    connection_type: 'text',
    types: 'text[]',
    record: 'jsonb',
    slice: 'bigint',
    terms: 'int[]',
  },
  eventCode: 'network.traffic',
  eventColumns: `user_id as initiator_id, record -> 'user' ->> 'name' as initiator_name,
  record -> 'user' ->> 'email' as initiator_email, destination_id as target_id,
  record -> 'destination' ->> 'name' as target_name, jsonb_build_object('flow_id', flow_id, 'reporter_id', reporter_id,
  'protocol', protocol, 'direction', direction, 'connection_type', connection_type) || record as meta`,
};

/** All feeds. */
export const feeds: readonly Feed[] = [proxyFeed, trafficFeed];

/** Feeds by name. */
export const feedsByName: Readonly<Record<Feed['name'], Feed>> = { proxy: proxyFeed, traffic: trafficFeed };

/** Adds a parameter and returns its placeholder. */
export type Bind = (value: unknown) => string;

/** A condition on records, as SQL text. Values must be added with `bind`. */
export type Condition = (bind: Bind) => string;

/** A range of time that includes both ends. */
export interface Range {
  readonly from: Date;
  readonly to: Date;
}

/** A selection of records of one account. */
export interface Selection {
  readonly feed: Feed;
  readonly account: string;
  readonly range: Range;
  /** Conditions that must all hold. */
  readonly conditions: readonly Condition[];
}

/**
 * Builds a statement on feeds. All access to feeds must use this function, because they are outside row-level security.
 * Every table in the text must be restricted to the account by its `where`.
 */
export function feedQuery<Row>(
  account: string,
  write: (of: { readonly bind: Bind; readonly account: string }) => string,
): CompiledQuery<Row> {
  const values: unknown[] = [account];
  const bind: Bind = (value) => {
    values.push(value);
    return `$${values.length}`;
  };
  return statement(`${unpreparedStatementPrefix}${write({ bind, account: '$1' })}`, values);
}

/** Returns the condition that selects the records of a selection. Account and time come first, as in every index. */
export function whereOf({ range, conditions }: Selection, bind: Bind, table: string): string {
  const within = `${table}.account_id = $1 and ${table}.timestamp >= ${bind(range.from)}::timestamptz and ${table}.timestamp <= ${bind(range.to)}::timestamptz`;
  return [within, ...conditions.map((condition) => `(${condition(bind)})`)].join(' and ');
}
