import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../../src/lib/json.ts';
import { type Arrived, type Counterpart, startCounterpart } from '../counterpart.ts';

/** API key that the intake accepts. */
export const apiKey = 'dd-secret-key';

/** Attributes of log entries, as Datadog parses them from the messages. */
export interface Entries {
  readonly entries: readonly JsonObject[];
  readonly tags: readonly string[];
  readonly bytes: number;
}

/** Starts a log intake that checks the rules of the Datadog documentation. */
export function startIntake(): Promise<Counterpart<Entries>> {
  return startCounterpart<Entries>({
    read: readEntries,
    accept: (response) => response.writeHead(202, { 'content-type': 'application/json' }).end('{}'),
  });
}

function readEntries({ request: { method, url, headers }, body }: Arrived): Entries | string {
  if (method !== 'POST' || url !== '/api/v2/logs') return `${method} ${url}`;
  if (headers['dd-api-key'] !== apiKey) return 'the key is wrong';
  if (headers['content-type'] !== 'application/json') return `the type is ${headers['content-type']}`;
  if (headers['content-encoding'] !== 'gzip') return `the encoding is ${headers['content-encoding']}`;
  const text = gunzipSync(body);
  if (text.length > 5_000_000) return `${text.length} bytes`;
  const list: readonly JsonObject[] = JSON.parse(text.toString('utf8'));
  if (list.length === 0 || list.length > 1000) return `${list.length} entries`;
  const faults = list.map(entryFault).filter((fault) => fault !== undefined);
  if (faults.length > 0) return faults.join('; ');
  return {
    entries: list.map(({ message }): JsonObject => JSON.parse(String(message))),
    tags: list.map(({ ddtags }) => String(ddtags)),
    bytes: text.length,
  };
}

const members = ['ddsource', 'ddtags', 'hostname', 'message', 'service'];
const mostAge = 18 * 3_600_000;

function entryFault(entry: JsonObject): string | undefined {
  if (JSON.stringify(entry).length > 1_000_000) return 'an entry is too large';
  const unknown = Object.entries(entry).filter(([name, value]) => !members.includes(name) || typeof value !== 'string');
  if (unknown.length > 0) return `an entry has ${unknown.map(([name]) => name).join(', ')}`;
  if (entry['ddsource'] !== 'heddle' || entry['service'] !== 'heddle') return 'the source or the service is wrong';
  const { timestamp } = JSON.parse(String(entry['message']));
  return Date.now() - Date.parse(timestamp) < mostAge ? undefined : `an entry is of ${timestamp}`;
}
