import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { JsonObject } from '../../../lib/json.ts';
import { verdictOf, verdictOfRequest } from '../deliveries/answer.ts';
import { eventBody } from '../deliveries/events.ts';
import type { Channel, DeliveryEvent, DeliveryTarget } from '../deliveries/target.ts';
import { countWithin } from './limits.ts';
import type { StreamOptions } from './options.ts';

const compress = promisify(gzip);

const defaultTimeoutMs = 30_000;
const maxResponseBytes = 256 * 1024;

/**
 * Limits of the Datadog intake for one request, before compression. The brackets of the list count towards the bytes.
 */
const limits = { entries: 1000, bytes: 5_000_000 - 2, entryBytes: 1_000_000 };

/**
 * Age above which events are sent with the current time, in milliseconds. The intake drops events older than 18 hours.
 */
const maxAgeMs = 17 * 3_600_000;

/** Creates a target that sends events to the Datadog log intake (version 2), compressed. */
export function openDatadog({ account, settings = {} }: Channel, options: StreamOptions): DeliveryTarget {
  const { outbound, now, timeoutMs = defaultTimeoutMs } = options;
  const url = intakeOf(settings);
  const { api_key: key } = settings;
  const write = (event: DeliveryEvent) => JSON.stringify(entryOf(account, event, now()));
  return {
    window: { events: limits.entries, bytes: limits.bytes },
    chooseBatchSize: (waiting) => countWithin(sizesOf(waiting, write), limits),
    async deliver(events) {
      const entries = events.map(write);
      if (entries.length === 1 && Buffer.byteLength(entries[0] ?? '') > limits.entryBytes)
        return {
          outcome: 'refused',
          reason: `the entry is larger than the ${limits.entryBytes} bytes that Datadog accepts`,
        };
      const body = await compress(`[${entries.join(',')}]`);
      return verdictOfRequest(async () => {
        const answer = await outbound.send('streaming', {
          ...{ url, namedBy: 'user', method: 'POST', body, timeoutMs, maxBytes: maxResponseBytes },
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', 'dd-api-key': String(key) },
        });
        return verdictOf(answer, url.host, now());
      });
    },
  };
}

function* sizesOf(events: readonly DeliveryEvent[], write: (event: DeliveryEvent) => string): Iterable<number> {
  for (const event of events) yield Buffer.byteLength(write(event)) + 1;
}

/**
 * Returns a log entry. Its message is JSON, which Datadog parses into attributes; the attribute `message` is the text
 * that Datadog shows.
 */
function entryOf(account: string, event: DeliveryEvent, now: number): JsonObject {
  const { at, code, activity, target } = event;
  const { timestamp, ...attributes } = eventBody(account, event);
  const isOld = now - Date.parse(at) > maxAgeMs;
  const times = isOld ? { timestamp: new Date(now).toISOString(), original_timestamp: at } : { timestamp: at };
  const message = `${activity}: ${target.name === '' ? target.id : target.name}`;
  return {
    ...{ ddsource: 'heddle', service: 'heddle', ddtags: `account:${account},type:${code}` },
    message: JSON.stringify({ message, ...times, ...attributes }),
  };
}

/** Datadog sites by the region names that clients use, for regions whose site is not named after the region. */
const sites: Readonly<Record<string, string>> = {
  ...{ us: 'datadoghq.com', us1: 'datadoghq.com', eu: 'datadoghq.eu', eu1: 'datadoghq.eu', gov: 'ddog-gov.com' },
};

const intakePath = '/api/v2/logs';

/** Returns the URL that entries are sent to: `api_url` unchanged, or the intake of the site. */
function intakeOf({ api_url: address, site, region }: JsonObject): URL {
  if (typeof address !== 'string' || address === '') return intakeOfSite(siteOf(site, region));
  const url = new URL(address);
  // Users copy the URL of the API or of the web application, which do not accept logs.
  const [, named] =
    /^(?:api|app)\.((?:[a-z0-9]+\.)?(?:datadoghq\.com|datadoghq\.eu|ddog-gov\.com))$/.exec(url.hostname) ?? [];
  if (named !== undefined) return intakeOfSite(named);
  if (url.pathname === '/') url.pathname = intakePath;
  return url;
}

function siteOf(site: unknown, region: unknown): string {
  if (typeof site === 'string' && site !== '') return site;
  if (typeof region !== 'string' || region === '') return 'datadoghq.com';
  return sites[region] ?? `${region}.datadoghq.com`;
}

function intakeOfSite(site: string): URL {
  return new URL(`https://http-intake.logs.${site}${intakePath}`);
}
