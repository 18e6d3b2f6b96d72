import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** One answer to a request, in the order in which requests of its kind arrive; the last one answers all that follow. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON, of a watch one a line; texts as they are. */
  readonly body?: unknown;
  readonly lines?: readonly unknown[];
  /** After the lines: `end` it properly, `cut` the connection, or `hold` it open, as a watch does by itself. */
  readonly afterwards?: 'end' | 'cut' | 'hold';
}

/** What an API server said once: for each path its lists and its watches. */
export type Conversation = Readonly<
  Record<
    string,
    { readonly lists?: readonly Answer[]; readonly watches?: readonly Answer[]; readonly writes?: readonly Answer[] }
  >
>;

/** A server that repeats a conversation, and what it was asked. */
export interface ConversationServer extends AsyncDisposable {
  readonly url: string;
  /** `METHOD path?query`, oldest first. */
  readonly requests: readonly string[];
  /** Bodies of writes, oldest first. */
  readonly bodies: readonly string[];
  /** Sends lines to all watches of a path that are held open. */
  say(path: string, ...events: readonly unknown[]): void;
  /** Ends the watches of a path that are held open. */
  endWatches(path: string): void;
  /** Resets the connections of the answers of a path that are held open. */
  reset(path: string): void;
  /** Ends all connections, and listens no more. */
  leave(): Promise<void>;
  /** Listens again at a port. */
  comeBack(port: number): Promise<void>;
  /** The conversation goes on otherwise. */
  turnTo(conversation: Conversation): void;
}

/** Starts one on a free port. */
export async function startConversation(first: Conversation): Promise<ConversationServer> {
  let conversation = first;
  const asked = new Map<string, number>();
  const requests: string[] = [];
  const bodies: string[] = [];
  const open = new Map<string, Set<ServerResponse>>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://server');
    const { pathname: path, searchParams } = url;
    requests.push(`${request.method} ${request.url}`);
    const isWatch = searchParams.get('watch') === 'true';
    const type = request.method !== 'GET' ? 'writes' : isWatch ? 'watches' : 'lists';
    if (type === 'writes') bodies.push(await textOf(request));
    const answers = conversation[path]?.[type] ?? [];
    const count = asked.get(`${type} ${path}`) ?? 0;
    asked.set(`${type} ${path}`, count + 1);
    const found = answers[Math.min(count, answers.length - 1)] ?? (isWatch ? {} : missing(path));
    play(found, response, isWatch);
    const isHeld = (found.afterwards ?? (isWatch ? 'hold' : 'end')) === 'hold';
    if (isHeld && (found.status ?? 200) === 200) hold(open, path, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  const leave = async (): Promise<void> => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    bodies,
    say(path, ...events) {
      for (const response of open.get(path) ?? []) for (const event of events) response.write(lineOf(event));
    },
    endWatches(path) {
      for (const response of open.get(path) ?? []) response.end();
    },
    turnTo(next) {
      conversation = next;
      asked.clear();
    },
    reset(path) {
      for (const response of open.get(path) ?? []) response.socket?.resetAndDestroy();
    },
    leave,
    comeBack: listen,
    [Symbol.asyncDispose]: leave,
  };
}

function play(
  { status = 200, headers = {}, body, lines = [], afterwards }: Answer,
  response: ServerResponse,
  isWatch: boolean,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.flushHeaders();
  for (const line of lines) response.write(lineOf(line));
  if (body !== undefined) response.write(typeof body === 'string' ? body : JSON.stringify(body));
  // Not before what was written has left.
  if (afterwards === 'cut') response.write('', () => response.destroy());
  else if (afterwards === 'end' || (afterwards !== 'hold' && !isWatch) || status !== 200) response.end();
}

function hold(open: Map<string, Set<ServerResponse>>, path: string, response: ServerResponse): void {
  const others = open.get(path) ?? new Set();
  open.set(path, others.add(response));
  response.on('close', () => others.delete(response));
}

function lineOf(event: unknown): string {
  return typeof event === 'string' ? event : `${JSON.stringify(event)}\n`;
}

function missing(path: string): Answer {
  return { status: 404, body: statusOf(404, 'NotFound', `the server could not find the requested resource ${path}`) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

/** An error as the API server sends it. */
export function statusOf(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

/** A list as the API server sends it. */
export function listOf(items: readonly object[], resourceVersion: string, next?: string): Answer {
  const metadata = { resourceVersion, ...(next === undefined ? {} : { continue: next }) };
  return { body: { kind: 'GroupList', apiVersion: 'heddle.dev/v1', metadata, items } };
}
