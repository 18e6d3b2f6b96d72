import { asObject, isObject, type JsonObject, parseJson } from '../../../lib/json.ts';
import { type EventValues, parseEventTemplate } from '../../../model/declare/event-template.ts';
import { verdictOf, verdictOfRequest } from '../deliveries/answer.ts';
import { eventBody, eventName, requestHeader } from '../deliveries/events.ts';
import type { Channel, DeliveryEvent, DeliveryTarget } from '../deliveries/target.ts';
import { countWithin } from './limits.ts';
import { deliveryId, type StreamOptions, unusableTarget } from './options.ts';

const defaultTimeoutMs = 15_000;
/** Maximum size of an answer, in bytes. Only the status of an answer matters. */
const maxResponseBytes = 256 * 1024;
const maxRequestBytes = 5_000_000;

/** Creates a target that posts events as JSON: one by one, or as lists when `batch` sets their length. */
export function openGenericHttp({ account, settings = {} }: Channel, options: StreamOptions): DeliveryTarget {
  const { outbound, now, timeoutMs = defaultTimeoutMs } = options;
  const url = new URL(String(settings['url']));
  const headers = headersOf(settings);
  const write = writerOf(account, settings);
  if ('fault' in write) return unusableTarget(write.fault);
  const { batch } = settings;
  const entries = batch === undefined ? 1 : Number(batch);
  const limits = { entries, bytes: maxRequestBytes, entryBytes: maxRequestBytes };
  return {
    chooseBatchSize: (waiting) => (entries === 1 ? 1 : countWithin(sizesOf(waiting, write.text), limits)),
    deliver: (events) =>
      verdictOfRequest(async () => {
        const texts = events.map(write.text);
        const answer = await outbound.send('streaming', {
          ...{ url, namedBy: 'user', method: 'POST', timeoutMs, maxBytes: maxResponseBytes },
          headers: {
            'content-type': 'application/json',
            'idempotency-key': deliveryId(account, events),
            ...requestHeader(events),
            ...headers,
          },
          body: batch === undefined ? texts.join('') : `[${texts.join(',')}]`,
        });
        return verdictOf(answer, url.host, now());
      }),
  };
}

function* sizesOf(events: readonly DeliveryEvent[], text: (event: DeliveryEvent) => string): Iterable<number> {
  // A comma separates two events.
  for (const event of events) yield Buffer.byteLength(text(event)) + 1;
}

/** Returns the function that writes an event, or why the template cannot be used. */
function writerOf(
  account: string,
  { body_template: text }: JsonObject,
): { readonly text: (event: DeliveryEvent) => string } | { readonly fault: string } {
  if (typeof text !== 'string' || text === '') return { text: (event) => JSON.stringify(eventBody(account, event)) };
  const template = parseEventTemplate(text);
  if ('fault' in template) return { fault: `the template of the body cannot be used: ${template.fault}` };
  return { text: (event) => template.render(valuesOf(event)) };
}

function valuesOf(event: DeliveryEvent): EventValues {
  const { at, code, activity, initiator, target, meta } = event;
  return {
    ...{ ID: eventName(event), Timestamp: at, Code: code, Message: activity },
    ...{ InitiatorID: initiator.id, TargetID: target.id, Meta: meta },
  };
}

/** Parses the headers of the settings. Their names are changed to lower case, because header names ignore case. */
function headersOf({ headers }: JsonObject): Readonly<Record<string, string>> {
  if (typeof headers !== 'string' || headers === '') return {};
  const parsed = parseJson(headers);
  const entries = isObject(parsed) ? Object.entries(asObject(parsed)) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
