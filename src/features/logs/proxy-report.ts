import { proxyFeed } from '../../db/logs/feeds.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { unmappedAddress } from '../../lib/net/address.ts';
import { serviceModes } from '../../model/declare/service-words.ts';
import { countedSliceKeys, type Slice, unlistedValue } from './count-slices.ts';
import type { Report } from './ingest.ts';
import type { ListedValues } from './listings.ts';
import { type AcceptedTimes, checkTime, createMemberReader, type MemberReader } from './member-reader.ts';
import { statusOf } from './proxy-log.ts';
import { prefixTerms, saltOf, termsOf, wholeTerms } from './search-terms.ts';
import { createValueCollector } from './values.ts';

/** A record that was refused: its index in the report, and the reason. */
export interface RefusedRecord {
  readonly index: number;
  readonly reason: string;
}

/** Result of parsing a report: the accepted records, and the refused ones. */
export interface ParsedReport {
  readonly report: Report;
  readonly refused: readonly RefusedRecord[];
}

/** A report: its account, its reporter, the name of its batch, and its records. */
export interface IncomingReport {
  readonly account: string;
  readonly reporter: string;
  readonly batch: string;
  readonly records: readonly Json[];
}

/** Methods that are counted separately also when the host is not listed. */
const countedMethods = ['', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE'];
const protocols = ['', ...serviceModes] as const;
/**
 * Maximum lengths of values that clients chose; longer values are cut. They are attacks or mistakes, and their
 * beginning is enough to tell which.
 */
const maxLengths = { path: 4096, host: 255, method: 32 } as const;
const maxReportedLength = 65_536;

/** Parses the requests that a proxy reports. A faulty record does not affect the other records. */
export function readProxyReport(
  { records, ...of }: IncomingReport,
  span: AcceptedTimes,
  listing: ListedValues,
): ParsedReport {
  const rows: JsonObject[] = [];
  const refused: RefusedRecord[] = [];
  const parts = new Map<number, readonly number[]>();
  const listed = createValueCollector(listing);
  const salt = saltOf(of.account);
  for (const [index, record] of records.entries()) {
    const members = createMemberReader(record);
    const row = readRecord(members, `${of.batch}-${index}`, span);
    if (members.faults.length > 0) {
      refused.push({ index, reason: members.faults.join('; ') });
      continue;
    }
    const full: Slice = { host: row.host, method: row.method, status_code: String(row.status_code) };
    const own = listed.addIfListed('slice', JSON.stringify(full));
    const slice = own === undefined ? unlistedSliceOf(full) : full;
    const key = own ?? listed.addAlways('slice', JSON.stringify(slice));
    if (!parts.has(key)) parts.set(key, countedSliceKeys(slice, [{ status: statusOf(row.status_code) }]));
    const path = listed.addIfListed('path', row.path);
    const source = row.source_ip === '' ? 0 : listed.addIfListed('source_ip', row.source_ip);
    const unlisted = [...(own === undefined ? [row.host] : []), ...(path === undefined ? [row.path] : [])];
    if (source === undefined) unlisted.push(row.source_ip);
    if (unlisted.length > 0) listed.addAlways('rest', 'rest');
    const terms = [...prefixTerms(salt, row.id), ...termsOf(salt, [row.id, ...unlisted])];
    if (own === undefined) terms.push(...wholeTerms(salt, { host: row.host, method: row.method }));
    rows.push({ ...row, slice: key, path_key: path ?? 0, terms });
  }
  return { report: { feed: proxyFeed, ...of, rows, parts, values: listed.values() }, refused };
}

/** Returns the slice for a record whose exact slice is not listed. */
function unlistedSliceOf({ method = '', status_code = '' }: Slice): Slice {
  return { host: unlistedValue, method: countedMethods.includes(method) ? method : unlistedValue, status_code };
}

function readRecord(members: MemberReader, id: string, span: AcceptedTimes) {
  const time = members.time('timestamp');
  checkTime(members, 'timestamp', time, span);
  const given = members.text('source_ip', 45);
  const source = unmappedAddress(given);
  if (given !== '' && source === undefined) members.addFault('`source_ip` must be an IP address');
  const sent = (name: keyof typeof maxLengths) =>
    members.text(name, maxReportedLength).slice(0, maxLengths[name]).toWellFormed();
  return {
    timestamp: new Date(time).toISOString(),
    id: members.text('id', 100) || id,
    service_id: members.text('service_id', 64),
    method: sent('method').toUpperCase(),
    host: sent('host').toLowerCase(),
    path: sent('path'),
    duration_ms: members.count('duration_ms'),
    status_code: members.count('status_code', 999),
    source_ip: source ?? '',
    reason: members.text('reason', 500),
    user_id: members.text('user_id', 64),
    auth_method_used: members.text('auth_method_used', 64),
    country_code: members.text('country_code', 2).toUpperCase(),
    city_name: members.text('city_name', 200),
    subdivision_code: members.text('subdivision_code', 10),
    bytes_upload: members.count('bytes_upload'),
    bytes_download: members.count('bytes_download'),
    protocol: members.oneOf('protocol', protocols),
    metadata: members.textMap('metadata') ?? null,
  };
}
