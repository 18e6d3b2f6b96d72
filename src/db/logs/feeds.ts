import type { CompiledQuery } from 'kysely';
import { plannedEachTime, statement } from '../builder.ts';

/** A log to which much is written and nothing is changed: a table that is partitioned by time. */
export interface Feed {
  /** By which roll-ups and values of the feed are kept. */
  readonly name: 'proxy' | 'traffic';
  readonly table: 'proxy_log' | 'traffic_log';
  /** The columns behind `account_id`, with their types. */
  readonly columns: Readonly<Record<string, string>>;
}

/** Requests that went through reverse proxies. */
export const proxyFeed: Feed = {
  name: 'proxy',
  table: 'proxy_log',
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
};

/** Flows between peers, as peers report them. */
export const trafficFeed: Feed = {
  name: 'traffic',
  table: 'traffic_log',
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
};

/** All feeds. */
export const feeds: readonly Feed[] = [proxyFeed, trafficFeed];

/** Gives a parameter its place in the text of a statement. */
export type Bind = (value: unknown) => string;

/** A condition on records, as text; values only through `bind`. */
export type Condition = (bind: Bind) => string;

/** A stretch of time, both ends included. */
export interface Range {
  readonly from: Date;
  readonly to: Date;
}

/** Records of one account. */
export interface Selection {
  readonly feed: Feed;
  readonly account: string;
  readonly range: Range;
  /** All of them hold. */
  readonly conditions: readonly Condition[];
}

/**
 * Builds a statement about feeds: the only way to them, because they lie outside row-level security. Every table that the
 * text names is confined to the account by `where`.
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
  return statement(`${plannedEachTime}${write({ bind, account: '$1' })}`, values);
}

/** The records of a selection as a condition: account and time first, as every index has them. */
export function whereOf({ range, conditions }: Selection, bind: Bind, table: string): string {
  const within = `${table}.account_id = $1 and ${table}.timestamp >= ${bind(range.from)}::timestamptz and ${table}.timestamp <= ${bind(range.to)}::timestamptz`;
  return [within, ...conditions.map((condition) => `(${condition(bind)})`)].join(' and ');
}
