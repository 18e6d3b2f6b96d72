import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Json, JsonObject } from '../../../src/lib/json.ts';

/** A device of a counterpart: the facts that every product reports, and members in the product's own shape. */
export interface KnownDevice {
  readonly id: string;
  readonly serial: string;
  readonly hostname: string;
  readonly seenAt: string;
  /** Members in the product's own shape. */
  readonly more?: JsonObject;
}

/** A request as the counterpart parsed it. */
export interface ProductRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An answer, or a fault to play: cut the answer short, close the connection, or never answer. */
export type ProductAnswer =
  | { readonly status: number; readonly body?: Json; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number; readonly text: string }
  | 'truncate'
  | 'hang up'
  | 'never';

/**
 * An answer to play, or a function that chooses it when the request arrives. `undefined`: the product answers by
 * itself.
 */
export type Played =
  | ProductAnswer
  | ((request: ProductRequest) => ProductAnswer | undefined | Promise<ProductAnswer | undefined>);

/** Thrown when a request violates the documentation of the product; contains the answer to send. */
export class Refused extends Error {
  readonly answer: ProductAnswer;

  constructor(status: number, message: string, body: Json = { error: message }) {
    super(message);
    this.answer = { status, body };
  }
}

/** A counterpart: a simulated product that checks requests as strictly as its documentation. */
export interface Product {
  readonly url: string;
  devices: readonly KnownDevice[];
  /** Time when the credentials expire. Absent: the product does not report it. */
  credentialEnds: string | undefined;
  readonly requests: readonly ProductRequest[];
  /** What was wrong with invalid requests, without faults that were played. */
  readonly faults: readonly string[];
  /** Sets the answers to the next requests, one request per answer. */
  next(...answers: readonly Played[]): void;
  /** Sets the answer to all requests for which `next` has none. `undefined` restores the product's own answers. */
  always(answer: ProductAnswer | undefined): void;
  /** Refuses all tokens granted so far. */
  revokeTokens(): void;
  stop(): Promise<void>;
}

/** Answers a request as the product does. Throws `Refused` when the request is invalid. */
export type Handle = (request: ProductRequest, product: Product) => ProductAnswer;

interface Tls {
  readonly key: string;
  readonly cert: string;
}

/** Starts a counterpart on 127.0.0.1, and stops it when the test ends. */
export async function startProduct(
  handle: Handle,
  { tls, revoke = () => undefined }: { readonly tls?: Tls; revoke?(): void } = {},
) {
  const requests: ProductRequest[] = [];
  const faults: string[] = [];
  const queue: Played[] = [];
  let usual: ProductAnswer | undefined;
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = {
      method: incoming.method ?? '',
      url: new URL(incoming.url ?? '', 'http://product'),
      headers: incoming.headers,
      body: await textOf(incoming),
    };
    requests.push(request);
    const queued = queue.shift();
    const played = (typeof queued === 'function' ? await queued(request) : queued) ?? usual;
    send(response, played ?? answer(request));
  };
  const answer = (request: ProductRequest): ProductAnswer => {
    try {
      if (!/^Heddle\//.test(request.headers['user-agent'] ?? '')) throw new Refused(400, 'no user agent of its own');
      return handle(request, product);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      faults.push(`${request.method} ${request.url.pathname}${request.url.search}: ${error.message}`);
      return error.answer;
    }
  };
  const listener = (incoming: IncomingMessage, response: ServerResponse) => void serve(incoming, response);
  const server: Server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `address()` returns an `AddressInfo` for a server that listens over TCP.
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  onTestFinished(stop);
  const product: Product = {
    url: `${tls === undefined ? 'http' : 'https'}://${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}`,
    devices: [],
    credentialEnds: undefined,
    ...{ requests, faults, stop },
    next: (...answers) => void queue.push(...answers),
    always(played) {
      usual = played;
    },
    revokeTokens: () => revoke(),
  };
  return product;
}

function send(response: ServerResponse, answer: ProductAnswer): void {
  if (answer === 'never') return;
  if (answer === 'hang up') {
    response.destroy();
    return;
  }
  if (answer === 'truncate') {
    const text = JSON.stringify({ data: [{ id: '1' }] });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 100 });
    response.write(text.slice(0, 10), () => response.destroy());
    return;
  }
  if ('text' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
    return;
  }
  const { status, body, headers = {} } = answer;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

/** Throws `Refused` when the query has a parameter that is not in `allowed`. */
export function demandQuery({ url }: ProductRequest, allowed: readonly string[]): void {
  const unknown = [...url.searchParams.keys()].find((name) => !allowed.includes(name));
  if (unknown !== undefined) throw new Refused(400, `unknown parameter ${unknown}`);
}

/**
 * Returns the integer in a query parameter, or `usual` when the parameter is absent. Throws `Refused` unless it is from
 * 1 to `most`.
 */
export function numberIn({ url }: ProductRequest, name: string, usual: number, most: number): number {
  const text = url.searchParams.get(name);
  if (text === null) return usual;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > most) throw new Refused(400, `${name} must be 1 to ${most}`);
  return number;
}

/** Creates a token endpoint for the client credentials grant, which also checks whether a token is still valid. */
export function tokenServer(
  form: Readonly<Record<string, string>>,
  { seconds, status }: { readonly seconds: number; readonly status: number },
) {
  const granted = new Map<string, number>();
  let count = 0;
  return {
    granted,
    seconds,
    grant({ method, headers, body }: ProductRequest): ProductAnswer {
      if (method !== 'POST') throw new Refused(405, 'tokens are requested with POST');
      if (headers['content-type'] !== 'application/x-www-form-urlencoded') throw new Refused(415, 'no form');
      const given = Object.fromEntries(new URLSearchParams(body));
      const wrong = [...new Set([...Object.keys(form), ...Object.keys(given)])].find(
        (name) => form[name] !== given[name],
      );
      if (wrong !== undefined)
        throw new Refused(401, `${wrong} is wrong`, { error: 'invalid_client', error_description: 'no' });
      count += 1;
      const token = `token-${count}`;
      granted.set(token, Date.now() + this.seconds * 1000);
      return { status, body: { token_type: 'Bearer', expires_in: this.seconds, access_token: token } };
    },
    demand({ headers }: ProductRequest): void {
      const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
      if ((granted.get(token) ?? 0) > Date.now()) return;
      throw new Refused(401, granted.has(token) ? 'the token has ended' : 'the token was not granted');
    },
  };
}
