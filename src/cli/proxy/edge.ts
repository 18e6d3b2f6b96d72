import { EventSourceParserStream } from 'eventsource-parser/stream';
import { asObject, isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import { Unavailable } from '../../model/errors.ts';
import { accept, unreadable } from '../client.ts';

/** One message about services. */
export interface EdgeMessage {
  readonly type: string;
  /** By which the stream is taken up behind it. */
  readonly id?: string;
  readonly data: JsonObject;
}

/** The edge of a server for reverse proxies, as one proxy sees it. */
export interface Edge {
  /** Sends a report. Refusals are exceptions. */
  send(path: string, body: JsonObject): Promise<JsonObject>;
  /** Messages about services, until the stream ends. */
  follow(signal: AbortSignal): AsyncGenerator<EdgeMessage>;
}

/** Speaks as a proxy, known by its token. */
export function createEdge(server: string, token: string, proxyId: string): Edge {
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
      return objectIn(await ask(path, { method: 'POST', headers, body: text }));
    },
    async *follow(signal) {
      const response = await ask(`services?proxy_id=${encodeURIComponent(proxyId)}`, {
        headers: { authorization },
        signal,
      });
      if (!response.ok) await objectIn(response);
      try {
        yield* messagesOf(response);
      } catch (cause) {
        throw new Unavailable(`The stream of ${server} broke off; it is taken up again.`, { cause });
      }
    },
  };
}

/** The object that an answer carries. Refusals are exceptions; `hint` is for those who are not known. */
export async function objectIn(response: Response, hint?: string): Promise<JsonObject> {
  const text = await response.text();
  const body = text === '' ? {} : jsonIn(text);
  const { origin: server, pathname } = new URL(response.url);
  accept({ server, status: response.status, text, body }, hint);
  if (isObject(body)) return body;
  throw unreadable(server, pathname, 'something else than an object');
}

/** A proxy in between may answer with a page. */
function jsonIn(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The messages of a stream of Server-Sent Events. */
export async function* messagesOf({ body }: Response): AsyncGenerator<EdgeMessage> {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { event, id, data } of events ?? []) {
    if (event === undefined) continue;
    yield { type: event, ...(id === undefined ? {} : { id }), data: asObject(parseJson(data)) };
  }
}
