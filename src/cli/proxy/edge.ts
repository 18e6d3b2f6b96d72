import { EventSourceParserStream } from 'eventsource-parser/stream';
import { asObject, isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { requireSuccess, unreadableAnswer } from '../client.ts';

/** One message of an event stream. */
export interface StreamMessage {
  readonly type: string;
  /** Id for `Last-Event-ID`, by which the stream is resumed after this message. */
  readonly id?: string;
  readonly data: JsonObject;
}

/** A server's API for reverse proxies, as one proxy uses it. */
export interface ProxyClient {
  /** Sends a report and returns the answer. Throws when the server refuses. */
  send(path: string, body: JsonObject): Promise<JsonObject>;
  /** Yields messages about services until the stream ends. */
  follow(signal: AbortSignal): AsyncGenerator<StreamMessage>;
}

/** Creates the client of one proxy, which authenticates with its token. */
export function createProxyClient(server: string, token: string, proxyId: string): ProxyClient {
  const authorization = `Bearer ${token}`;
  const ask = async (path: string, request: RequestInit): Promise<Response> => {
    try {
      return await fetch(`${server}/proxy/${path}`, { redirect: 'error', ...request });
    } catch (cause) {
      throw new Unavailable(`No server answers at ${server}; start one with \`heddle serve\`.`, { cause });
    }
  };
  return {
    async send(path, body) {
      const headers = { authorization, 'content-type': 'application/json' };
      const text = JSON.stringify({ proxy_id: proxyId, ...body });
      return readJsonObject(await ask(path, { method: 'POST', headers, body: text }));
    },
    async *follow(signal) {
      const response = await ask(`services?proxy_id=${encodeURIComponent(proxyId)}`, {
        headers: { authorization },
        signal,
      });
      if (!response.ok) await readJsonObject(response);
      try {
        yield* messagesOf(response);
      } catch (cause) {
        throw new Unavailable(`The stream of ${server} was interrupted; it is resumed.`, { cause });
      }
    },
  };
}

/**
 * Returns the JSON object in an answer. Throws when the server refuses. `hint` is appended when the credentials were
 * refused (401).
 */
export async function readJsonObject(response: Response, hint?: string): Promise<JsonObject> {
  const text = await response.text();
  const body = text === '' ? {} : jsonIn(text);
  const { origin: server, pathname } = new URL(response.url);
  requireSuccess({ server, status: response.status, text, body }, hint);
  if (isObject(body)) return body;
  throw unreadableAnswer(server, pathname, 'something other than an object');
}

/** Returns `undefined` for invalid JSON: a proxy on the path may answer with an HTML page. */
function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Yields the messages of a stream of Server-Sent Events. */
export async function* messagesOf({ body }: Response): AsyncGenerator<StreamMessage> {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, id, data } of events ?? []) {
    if (event === undefined) continue;
    yield { type: event, ...(id === undefined ? {} : { id }), data: asObject(parseJson(data)) };
  }
}
