import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as requestPlain } from 'node:http';
import { Agent, request as requestTls } from 'node:https';
import { asObjectOrEmpty, isObject, type Json, type JsonObject, parseJson } from '../lib/json.ts';
import type { Connection } from './connection.ts';
import { ApiError, Unreachable } from './errors.ts';
import { isResource, type Resource } from './resource.ts';

/** One page of a list. */
export interface Page {
  readonly items: readonly Resource[];
  /** Version of the whole list, from which a watch continues. */
  readonly resourceVersion: string;
  /** Token for the next page. Absent: this was the last page. */
  readonly next?: string;
}

/** Event of a watch. A bookmark only states the version up to which all events were sent. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Resource }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/**
 * Sends requests to an API server. All methods throw `ApiError` or `Unreachable`. Paths begin with `/api/` or `/apis/`.
 */
export interface Client {
  /** Reads one object. */
  get(path: string): Promise<Resource>;
  /**
   * Reads one page of the objects at a path. `from` is the `next` of the page before; `size` is the maximum number of
   * objects.
   */
  list(path: string, from?: string, how?: { readonly signal?: AbortSignal; readonly size?: number }): Promise<Page>;
  /**
   * Watches the changes of a list since a version, until the API server ends the watch. Resolves when the API server
   * has accepted the request. An `ApiError` with status 410, either from this call or instead of an event, means that
   * the API server no longer knows the version.
   */
  watch(path: string, resourceVersion: string, signal: AbortSignal): Promise<AsyncIterable<WatchEvent>>;
  /**
   * Applies an object server-side, and creates it if it is missing. This client becomes the owner of the given fields,
   * whichever field manager owned them.
   */
  apply(path: string, object: JsonObject): Promise<Resource>;
  /** Creates an object in a list. */
  create(path: string, object: JsonObject): Promise<Resource>;
  /** Replaces an object, or a subresource of it. */
  replace(path: string, object: JsonObject): Promise<Resource>;
  /** Changes an object with a JSON merge patch. */
  patch(path: string, object: JsonObject): Promise<Resource>;
  delete(path: string): Promise<void>;
  /** Closes the kept connections. */
  close(): void;
}

/** Connection, name and limits of a client. */
export interface ClientOptions {
  readonly connection: Connection;
  /** Field manager that owns the applied fields. Also sent as `User-Agent`. */
  readonly fieldManager: string;
  /** Maximum number of objects per page. */
  readonly pageSize?: number;
  /** Timeout of an answer, in milliseconds. Does not apply to the events of a watch. */
  readonly timeoutMs?: number;
  /** Time without data after which a watch fails, in milliseconds. */
  readonly quietMs?: number;
}

/** Creates a client. Sends nothing before the first call. */
export function createClient(options: ClientOptions): Client {
  const { connection, fieldManager, pageSize = 500, timeoutMs = 30_000, quietMs = defaultQuietMs } = options;
  const { send, close } = createSender(connection, fieldManager, timeoutMs);
  const ask = async (method: string, path: string, sent?: SendOptions): Promise<Json> => {
    const response = await send(method, path, sent);
    const text = await readText(response, connection.server, timeoutMs);
    const value = tryParseJson(text);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) throw toApiError(status, response.headers['retry-after'], value ?? text);
    if (value === undefined) throw new Unreachable(`the answer of ${connection.server}${path} is not JSON`);
    return value;
  };
  const one = async (method: string, path: string, sent?: SendOptions): Promise<Resource> => {
    const value = await ask(method, path, sent);
    if (isResource(value)) return value;
    throw new Unreachable(`the answer of ${connection.server}${path} is not a Kubernetes object`);
  };
  const manager = `fieldManager=${encodeURIComponent(fieldManager)}`;

  return {
    get: (path) => one('GET', path),
    async list(path, from, { signal, size = pageSize } = {}) {
      const next = from === undefined ? '' : `&continue=${encodeURIComponent(from)}`;
      return parsePage(await ask('GET', `${path}?limit=${size}${next}`, { signal }), path);
    },
    async watch(path, resourceVersion, signal) {
      const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${encodeURIComponent(resourceVersion)}`;
      const response = await send('GET', `${path}?${query}&timeoutSeconds=${randomWatchSeconds()}`, { signal });
      const status = response.statusCode ?? 0;
      if (status === 200) return eventsOf(response, connection.server, quietMs);
      const text = await readText(response, connection.server, timeoutMs);
      throw toApiError(status, response.headers['retry-after'], tryParseJson(text) ?? text);
    },
    apply: (path, body) =>
      one('PATCH', `${path}?${manager}&force=true`, { body, type: 'application/apply-patch+yaml' }),
    create: (path, body) => one('POST', `${path}?${manager}`, { body, type: 'application/json' }),
    replace: (path, body) => one('PUT', `${path}?${manager}`, { body, type: 'application/json' }),
    patch: (path, body) => one('PATCH', `${path}?${manager}`, { body, type: 'application/merge-patch+json' }),
    async delete(path) {
      await ask('DELETE', path);
    },
    close,
  };
}

interface SendOptions {
  readonly body?: JsonObject;
  readonly type?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Returns a function that sends requests over kept connections, and a function that closes them. */
function createSender(connection: Connection, fieldManager: string, timeoutMs: number) {
  const isPlain = connection.server.startsWith('http:');
  const agent = isPlain ? new PlainAgent({ keepAlive: true }) : new Agent({ keepAlive: true });

  const send = async (
    method: string,
    path: string,
    { body, type, signal }: SendOptions = {},
  ): Promise<IncomingMessage> => {
    const { tls, headers } = await connection.credentials();
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options = {
      ...{ method, agent, ...tls },
      ...(signal === undefined ? {} : { signal }),
      headers: {
        ...{ accept: 'application/json', 'user-agent': fieldManager, ...headers },
        ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
      },
    };
    const url = `${connection.server}${path}`;
    const request = isPlain ? requestPlain(url, options) : requestTls(url, options);
    request.setSocketKeepAlive(true, keepAliveMs);
    // A connection that is reset while the answer arrives is an error of the request and of the response. Only the
    // error of the response is handled.
    request.on('error', () => undefined);
    request.end(text);
    try {
      const response = await waitForResponse(request, timeoutMs);
      if (response.statusCode === 401) connection.discardCredentials();
      return response;
    } catch (error) {
      // The reason may be that the API server did not accept the client certificate.
      connection.discardCredentials();
      throw toUnreachable(connection.server, error);
    }
  };
  return { send, close: () => agent.destroy() };
}

/**
 * Delay of the TCP keep-alive probes, in milliseconds. They detect a host that vanished: a quiet watch sends no data
 * for minutes.
 */
const keepAliveMs = 15_000;

/**
 * Default for `quietMs`. An API server sends a bookmark every minute. A proxy between this server and the API server
 * may keep a connection open that no longer reaches the API server.
 */
const defaultQuietMs = 180_000;

async function* eventsOf(response: IncomingMessage, server: string, quietMs: number): AsyncIterable<WatchEvent> {
  const quiet = setTimeout(
    () => response.destroy(new Error(`the watch sent no data for ${quietMs / 1000} s`)),
    quietMs,
  );
  try {
    for await (const line of linesOf(response, () => quiet.refresh())) yield parseEvent(line);
  } catch (error) {
    throw toUnreachable(server, error);
  } finally {
    clearTimeout(quiet);
    response.destroy();
  }
}

/**
 * Returns a random duration of a watch, between 300 and 600 seconds, so that watches that begin together do not end
 * together.
 */
function randomWatchSeconds(): number {
  return 300 + Math.floor(Math.random() * 300);
}

async function waitForResponse(request: ClientRequest, timeoutMs: number): Promise<IncomingMessage> {
  const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  try {
    const [response] = await once(request, 'response');
    return response;
  } finally {
    clearTimeout(timer);
  }
}

/** Wraps an error of the connection in `Unreachable`. Returns an `ApiError` or `Unreachable` unchanged. */
function toUnreachable(server: string, error: unknown): ApiError | Unreachable {
  if (error instanceof ApiError || error instanceof Unreachable) return error;
  return new Unreachable(`${server}: ${error instanceof Error ? error.message || error.name : String(error)}`);
}

async function readText(response: IncomingMessage, server: string, timeoutMs: number): Promise<string> {
  const timer = setTimeout(
    () => response.destroy(new Error(`the answer did not end within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw toUnreachable(server, error);
  } finally {
    clearTimeout(timer);
  }
}

/** Yields the complete lines of a response. Text after the last line end is dropped, because that line was cut off. */
async function* linesOf(response: IncomingMessage, heard: () => void): AsyncIterable<string> {
  response.setEncoding('utf8');
  let rest: string[] = [];
  for await (const chunk of response) {
    heard();
    const parts = String(chunk).split('\n');
    const [first = '', ...others] = parts;
    rest.push(first);
    if (others.length === 0) continue;
    yield rest.join('');
    yield* others.slice(0, -1);
    rest = others.slice(-1);
  }
}

function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function parsePage(value: Json, path: string): Page {
  const { items, metadata } = isObject(value) ? value : {};
  const { resourceVersion, continue: next } = isObject(metadata) ? metadata : {};
  if (!Array.isArray(items) || typeof resourceVersion !== 'string' || !items.every(isResource))
    throw new Unreachable(`the answer of ${path} is not a Kubernetes list`);
  return { items, resourceVersion, ...(typeof next === 'string' && next !== '' ? { next } : {}) };
}

function parseEvent(line: string): WatchEvent {
  const value = tryParseJson(line);
  const { type, object } = isObject(value) ? value : {};
  if (type === 'ERROR' && isObject(object)) throw toApiError(Number(object['code']) || 500, undefined, object);
  if (type === 'BOOKMARK') return { type, resourceVersion: bookmarkVersion(object) };
  if ((type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') && isResource(object)) return { type, object };
  throw new Unreachable(`the watch sent something that is not an event: ${line.slice(0, 100)}`);
}

/** Returns the version of a bookmark. The object of a bookmark has no other content. */
function bookmarkVersion(object: Json | undefined): string {
  const { metadata } = asObjectOrEmpty(object);
  const { resourceVersion } = asObjectOrEmpty(metadata);
  if (typeof resourceVersion === 'string' && resourceVersion !== '') return resourceVersion;
  throw new Unreachable('the watch sent a bookmark without a version');
}

/** Returns the error for a failed request. The body of a failed request is usually an object of the kind `Status`. */
function toApiError(status: number, retryAfter: string | undefined, value: Json): ApiError {
  const { message, reason, details } = asObjectOrEmpty(typeof value === 'string' ? undefined : value);
  const { retryAfterSeconds } = asObjectOrEmpty(details);
  const seconds = Number(retryAfter ?? retryAfterSeconds);
  return new ApiError({
    status,
    reason: typeof reason === 'string' ? reason : '',
    message: typeof message === 'string' ? message : String(value).slice(0, 200),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}
