import { createPublicKey, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Counterpart, startCounterpart } from './counterpart.ts';

/** A message with a valid signature. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
  /** The body as received. */
  readonly text: string;
  /** Number of keys with which the message was signed. */
  readonly signatures: number;
}

/** A receiver of webhooks, as strict as the signature convention allows. */
export type Receiver = Counterpart<Received>;

/** Starts a receiver. Calls `keys` for the public keys at every request. */
export async function startReceiver(keys: () => Promise<readonly string[]>): Promise<Receiver> {
  const counterpart = await startCounterpart<Received>({
    read: async ({ request, body }) => check(request, body.toString('utf8'), await keys()),
    accept: (response) => response.writeHead(204).end(),
  });
  return { ...counterpart, url: `${counterpart.url}/hook` };
}

/** Returns the message, or a text that describes what is wrong with it. */
function check(request: IncomingMessage, text: string, keys: readonly string[]): Received | string {
  const { headers, method } = request;
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (method !== 'POST') return `the method is ${method}`;
  if (headers['content-type'] !== 'application/json') return `the type is ${headers['content-type']}`;
  if (Number(headers['content-length']) !== Buffer.byteLength(text)) return 'the length is wrong';
  if (typeof id !== 'string' || !/^[\w-]{1,128}$/.test(id)) return `the id is ${String(id)}`;
  if (typeof timestamp !== 'string' || !/^\d{10}$/.test(timestamp)) return `the time is ${String(timestamp)}`;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return 'the time is too far off';
  if (typeof signatures !== 'string') return 'it is not signed';
  const list = signatures.split(' ');
  const wrong = list.filter((signature) => !/^v1a,[A-Za-z0-9+/]{86}==$/.test(signature));
  if (wrong.length > 0) return `signatures that are none: ${wrong.join(' ')}`;
  const content = Buffer.from(`${id}.${timestamp}.${text}`);
  const good = list.filter((signature) => keys.some((key) => isSignedBy(key, content, signature.slice(4))));
  if (good.length !== list.length) return 'a signature is not by a published key';
  return { id, headers, body: JSON.parse(text), text, signatures: list.length };
}

function isSignedBy(key: string, content: Buffer, signature: string): boolean {
  const raw = Buffer.from(key.replace(/^whpk_/, ''), 'base64');
  if (!key.startsWith('whpk_') || raw.length !== 32) return false;
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') };
  return verify(null, content, createPublicKey({ key: jwk, format: 'jwk' }), Buffer.from(signature, 'base64'));
}
