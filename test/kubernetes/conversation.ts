import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** Answer to one request. Requests of a path and type get its answers in order; the last answer is repeated. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Body of the answer. Objects are sent as JSON, and texts unchanged. Use `lines` for events of a watch, one per line.
   */
  readonly body?: unknown;
  readonly lines?: readonly unknown[];
  /**
   * What happens after the last line: `end` ends the answer, `cut` breaks the connection, and `hold` keeps it open,
   * which is the default for a watch.
   */
  readonly afterwards?: 'end' | 'cut' | 'hold';
}

/** Recorded answers of an API server, by path: lists, watches and writes. */
export type Conversation = Readonly<
  Record<
    string,
    { readonly lists?: readonly Answer[]; readonly watches?: readonly Answer[]; readonly writes?: readonly Answer[] }
  >
>;

/** A server that replays a conversation, and records the requests. */
export interface ConversationServer extends AsyncDisposable {
  readonly url: string;
  /** Requests as `METHOD path?query`, oldest first. */
  readonly requests: readonly string[];
  /** Request bodies of writes, oldest first. */
  readonly bodies: readonly string[];
  /** Sends events, one per line, to all open watches of a path. */
  say(path: string, ...events: readonly unknown[]): void;
  /** Ends all open watches of a path. */
  endWatches(path: string): void;
  /** Resets the connections of all open answers of a path. */
  reset(path: string): void;
  /** Closes all connections, and stops listening. */
  leave(): Promise<void>;
  /** Listens on a port again. */
  comeBack(port: number): Promise<void>;
  /** Replaces the conversation; answers start at the first again. */
  turnTo(conversation: Conversation): void;
}

/** Starts the server on a free port. */
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
  // Breaks the connection only after the answer so far has been sent.
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

/** Returns an error `Status` as the API server sends it. */
export function statusOf(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

/** Returns a list as the API server sends it. */
export function listOf(items: readonly object[], resourceVersion: string, next?: string): Answer {
  const metadata = { resourceVersion, ...(next === undefined ? {} : { continue: next }) };
  return { body: { kind: 'GroupList', apiVersion: 'heddle.dev/v1', metadata, items } };
}
