import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/lib/json.ts';

/** A message that was signed as it has to be. */
export interface Received {
  readonly id: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
  /** The body as it came. */
  readonly text: string;
  /** With how many keys it was signed. */
  readonly signatures: number;
}

/** How a request is answered: with a status, by hand, or not at all. */
type Answer = number | ((response: ServerResponse, request: IncomingMessage) => void);

/** A receiver of webhooks that is as strict as the convention allows. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** What came and was accepted, in order. */
  readonly accepted: readonly Received[];
  /** Every attempt that was signed as it has to be. */
  readonly attempts: readonly Received[];
  /** What was wrong with requests. */
  readonly faults: readonly string[];
  /** Answers the next requests so, each once; then `usually`. */
  next(...answers: readonly Answer[]): void;
  usually(answer: Answer): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a receiver; `keys` are asked for the public keys at each request. */
export async function startReceiver(keys: () => Promise<readonly string[]>): Promise<Receiver> {
  const attempts: Received[] = [];
  const accepted: Received[] = [];
  const faults: string[] = [];
  const queue: Answer[] = [];
  let usual: Answer = 204;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    const received = check(request, text, await keys());
    if (typeof received === 'string') {
      faults.push(received);
      response.writeHead(400).end();
      return;
    }
    attempts.push(received);
    const answer = queue.shift() ?? usual;
    if (typeof answer === 'function') {
      answer(response, request);
      return;
    }
    if (answer < 300) accepted.push(received);
    response.writeHead(answer).end();
  };
  const open = async (port: number) => {
    const server = createServer((request, response) => void handle(request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server = await open(0);
  // A server that listens over TCP has such an address.
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(stop);
  return {
    ...{ url: `http://127.0.0.1:${port}/hook`, port, accepted, attempts, faults },
    next: (...answers) => void queue.push(...answers),
    usually(answer) {
      usual = answer;
    },
    stop,
    async start() {
      server = await open(port);
    },
  };
}

/** The message, or what is wrong with it. */
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

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
