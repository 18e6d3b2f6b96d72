import { parseAddress } from '../lib/address.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { proxyFeed } from '../store/feeds.ts';
import type { Report } from './ingest.ts';
import { checkTime, type Members, readMembers, type Span } from './members.ts';
import { statusOf } from './proxy-log.ts';
import { keyOf, partsOf, type Slice, sliceKey } from './slices.ts';

/** A record that was not taken: its place in the report, and why. */
export interface RefusedRecord {
  readonly index: number;
  readonly reason: string;
}

/** What became of the records of a report. */
export interface ReadReport {
  readonly report: Report;
  readonly refused: readonly RefusedRecord[];
}

/** Who reports what under which name. */
export interface ReportOf {
  readonly account: string;
  readonly reporter: string;
  readonly batch: string;
  readonly records: readonly Json[];
}

const protocols = ['', 'http', 'tcp', 'udp', 'tls'] as const;
/** Paths are cut here; what is longer is an attack or a mistake, and the beginning says which. */
const longestPath = 4096;

/** Reads what a proxy reports about requests; what is wrong about a record does not stop the others. */
export function readProxyReport({ records, ...of }: ReportOf, span: Span): ReadReport {
  const rows: JsonObject[] = [];
  const refused: RefusedRecord[] = [];
  const parts = new Map<number, readonly number[]>();
  const values = new Map<string, { readonly field: string; readonly key: number; readonly value: string }>();
  const keys = new Map<string, number>();
  const keep = (field: string, value: string): number => {
    const name = `${field} ${value}`;
    const key = keys.get(name) ?? (field === 'slice' ? sliceKey(JSON.parse(value) as Slice) : keyOf(value));
    keys.set(name, key);
    values.set(name, { field, key, value });
    return key;
  };
  for (const [index, record] of records.entries()) {
    const members = readMembers(record);
    const row = readRecord(members, `${of.batch}-${index}`, span);
    if (members.faults.length > 0) {
      refused.push({ index, reason: members.faults.join('; ') });
      continue;
    }
    const slice: Slice = { host: row.host, method: row.method, status_code: String(row.status_code) };
    const key = keep('slice', JSON.stringify(slice));
    if (!parts.has(key)) parts.set(key, partsOf(slice, [{ status: statusOf(row.status_code) }]));
    if (row.source_ip !== '') keep('source_ip', row.source_ip);
    rows.push({ ...row, slice: key, path_key: keep('path', row.path) });
  }
  return { report: { feed: proxyFeed, ...of, rows, parts, values: [...values.values()] }, refused };
}

function readRecord(members: Members, id: string, span: Span) {
  const time = members.time('timestamp');
  checkTime(members, 'timestamp', time, span);
  const source = members.text('source_ip', 45);
  if (source !== '' && parseAddress(source) === undefined) members.refuse('`source_ip` must be an IP address');
  return {
    timestamp: new Date(time).toISOString(),
    id: members.text('id', 100) || id,
    service_id: members.text('service_id', 64),
    method: members.text('method', 32).toUpperCase(),
    host: members.text('host', 255).toLowerCase(),
    path: members.text('path', 65_536).slice(0, longestPath).toWellFormed(),
    duration_ms: members.count('duration_ms'),
    status_code: members.count('status_code', 999),
    source_ip: source,
    reason: members.text('reason', 500),
    user_id: members.text('user_id', 64),
    auth_method_used: members.text('auth_method_used', 64),
    country_code: members.text('country_code', 2).toUpperCase(),
    city_name: members.text('city_name', 200),
    subdivision_code: members.text('subdivision_code', 10),
    bytes_upload: members.count('bytes_upload'),
    bytes_download: members.count('bytes_download'),
    protocol: members.word('protocol', protocols),
    metadata: members.texts('metadata') ?? null,
  };
}
