import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a Postgres that records every statement. */
export interface Wire extends AsyncDisposable {
  /** URL of the same database through the proxy. */
  readonly url: string;
  /** Returns the texts of the statements executed since the last call. */
  take(): readonly string[];
}

/**
 * Listens in front of a Postgres (by TCP) and records the statements that clients execute, including prepared
 * statements.
 */
export async function tapWire(target: string): Promise<Wire> {
  let seen: string[] = [];
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const read = createFrontendReader((text) => seen.push(text));
    client.on('data', read).pipe(upstream);
    upstream.pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => destroyBoth(client, upstream));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  const address = server.address();
  url.port = typeof address === 'object' ? String(address?.port) : '';
  return {
    url: url.href,
    take() {
      const taken = seen;
      seen = [];
      return taken;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

function destroyBoth(...sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/**
 * Parses the messages of one client: `Q` runs a text, `P` names a statement, `B` binds a named statement to the portal,
 * and `E` executes the portal.
 */
function createFrontendReader(executed: (text: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  let started = false;
  const named = new Map<string, string>();
  let bound = '';
  const handle = (type: string, body: Buffer) => {
    const [first = '', second = ''] = body.toString('utf8').split('\0', 2);
    if (type === 'Q') executed(first);
    if (type === 'P') named.set(first, second);
    if (type === 'B') bound = named.get(second) ?? '';
    if (type === 'E') executed(bound);
  };
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      // The first message (startup) has no type byte.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return;
      const end = head + rest.readInt32BE(head);
      if (rest.length < end) return;
      if (started) handle(String.fromCharCode(rest[0] ?? 0), rest.subarray(5, end));
      started = true;
      rest = rest.subarray(end);
    }
  };
}
