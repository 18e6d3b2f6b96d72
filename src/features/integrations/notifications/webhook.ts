import type { JsonObject } from '../../../lib/json.ts';
import { asObject, isObject } from '../../../lib/json.ts';
import type { Outbound } from '../../../outbound/outbound.ts';
import { verdictAbout, verdictOf } from '../deliveries/answer.ts';
import { eventBody, requestHeader } from '../deliveries/events.ts';
import type { Channel, DeliveryEvent, Target, Verdict } from '../deliveries/target.ts';
import type { WebhookSigner } from './webhook-keys.ts';

/** What webhooks are sent with. */
export interface WebhookOptions {
  readonly outbound: Pick<Outbound, 'send'>;
  readonly signer: WebhookSigner;
  /** Milliseconds since 1970. */
  now(): number;
  /** Where people open the pages of this server; absent: it does not know. */
  readonly publicUrl?: string | undefined;
  /** How long a receiver may take, in milliseconds; absent: 15 s. */
  readonly timeoutMs?: number;
}

const usualTimeoutMs = 15_000;
/** Nobody reads what receivers answer. */
const mostAnswered = 256 * 1024;

/** Posts events as JSON, one at a time, signed as Standard Webhooks has it. */
export function openWebhook({ account, settings = {} }: Channel, options: WebhookOptions): Target {
  const url = new URL(String(settings['url']));
  const headers = headersOf(settings);
  return {
    take: () => 1,
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
  { outbound, signer, now, publicUrl, timeoutMs = usualTimeoutMs }: WebhookOptions,
  { account, url, headers }: Receiver,
  event: DeliveryEvent,
): Promise<Verdict> {
  const wrong = Object.entries(headers).find(([, value]) => !isHeaderValue(value));
  if (wrong !== undefined)
    return { outcome: 'pause', reason: `the header ${wrong[0]} has characters that headers cannot have` };
  const body = JSON.stringify({ ...eventBody(account, event), ...pageOf(event, publicUrl) });
  const id = webhookId(account, event);
  const timestamp = String(Math.floor(now() / 1000));
  return verdictAbout(async () => {
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': await signer.sign(account, `${id}.${timestamp}.${body}`),
    };
    const answer = await outbound.send('webhook', {
      ...{ url, namedBy: 'user', method: 'POST', body, timeoutMs, maxBytes: mostAnswered },
      headers: { 'content-type': 'application/json', ...requestHeader([event]), ...headers, ...signed },
    });
    return verdictOf(answer, url.host, now());
  });
}

/** Where people look at what the event is about. */
function pageOf({ target: { id } }: DeliveryEvent, publicUrl: string | undefined): { readonly url?: string } {
  if (publicUrl === undefined || id === '') return {};
  return { url: `${publicUrl.replace(/\/+$/, '')}/#objects/${encodeURIComponent(id)}` };
}

/** The id of a message, the same however often it is sent. */
function webhookId(account: string, { id }: Pick<DeliveryEvent, 'id'>): string {
  return `evt_${account}_${id}`;
}

/** Names in lower case, as they are the same in any. */
function headersOf({ headers }: JsonObject): Readonly<Record<string, string>> {
  const entries = isObject(headers) ? Object.entries(asObject(headers)) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
