import type { JsonObject } from '../../../lib/json.ts';
import { asObject, isObject } from '../../../lib/json.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { verdictOf, verdictOfRequest } from '../deliveries/answer.ts';
import { eventBody, requestHeader } from '../deliveries/events.ts';
import type { Channel, DeliveryEvent, DeliveryTarget, Verdict } from '../deliveries/target.ts';
import type { WebhookSigner } from './webhook-keys.ts';

/** Options of sending webhooks. */
export interface WebhookOptions {
  readonly outbound: Pick<Outbound, 'send'>;
  readonly signer: WebhookSigner;
  /** Returns the time in milliseconds since 1970. */
  now(): number;
  /** Address of the pages of this server. Absent: the server does not know it. */
  readonly publicUrl?: string | undefined;
  /** Time limit of a receiver's answer, in milliseconds. Absent: 15 s. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 15_000;
/** Maximum size of an answer, in bytes. Its content is ignored. */
const maxResponseBytes = 256 * 1024;

/** Opens a target that posts events as JSON, one at a time, signed according to Standard Webhooks. */
export function openWebhook({ account, settings = {} }: Channel, options: WebhookOptions): DeliveryTarget {
  const url = new URL(String(settings['url']));
  const headers = headersOf(settings);
  return {
    chooseBatchSize: () => 1,
    deliver: async ([event]) =>
      event === undefined ? { outcome: 'accepted' } : post(options, { account, url, headers }, event),
  };
}

interface Receiver {
  readonly account: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

async function post(
  { outbound, signer, now, publicUrl, timeoutMs = defaultTimeoutMs }: WebhookOptions,
  { account, url, headers }: Receiver,
  event: DeliveryEvent,
): Promise<Verdict> {
  const wrong = Object.entries(headers).find(([, value]) => !isHeaderValue(value));
  if (wrong !== undefined)
    return { outcome: 'pause', reason: `the header ${wrong[0]} has characters that headers cannot have` };
  const body = JSON.stringify({ ...eventBody(account, event), ...pageUrlOf(event, publicUrl) });
  const id = webhookId(account, event);
  const timestamp = String(Math.floor(now() / 1000));
  return verdictOfRequest(async () => {
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': await signer.sign(account, `${id}.${timestamp}.${body}`),
    };
    const answer = await outbound.send('webhook', {
      ...{ url, namedBy: 'user', method: 'POST', body, timeoutMs, maxBytes: maxResponseBytes },
      headers: { 'content-type': 'application/json', ...requestHeader([event]), ...headers, ...signed },
    });
    return verdictOf(answer, url.host, now());
  });
}

/** Returns the address of the page about the object that the event concerns. */
function pageUrlOf({ target: { id } }: DeliveryEvent, publicUrl: string | undefined): { readonly url?: string } {
  if (publicUrl === undefined || id === '') return {};
  return { url: `${publicUrl.replace(/\/+$/, '')}/#objects/${encodeURIComponent(id)}` };
}

/** Returns the id of a message. It is the same for each repetition. */
function webhookId(account: string, { id }: Pick<DeliveryEvent, 'id'>): string {
  return `evt_${account}_${id}`;
}

/** Returns the headers with names in lower case: header names are case-insensitive. */
function headersOf({ headers }: JsonObject): Readonly<Record<string, string>> {
  const entries = isObject(headers) ? Object.entries(asObject(headers)) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
