import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import type { HttpLoad, LoadResult, TransactionLoad } from './load.ts';
import { median } from './timing.ts';

process.on('message', (load: HttpLoad | TransactionLoad) => {
  const work = load.type === 'http' ? runHttp(load) : runTransactions(load);
  work.then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.(String(error)),
  );
});

let number = 0;

async function runHttp(load: HttpLoad): Promise<LoadResult> {
  const { hostname, port } = new URL(load.url);
  const sockets = Array.from({ length: load.clients }, () => connect(Number(port), hostname).setNoDelay(true));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const result = await repeat(sockets, load.milliseconds, (socket) => exchange(socket, requestOf(load)));
  for (const socket of sockets) socket.destroy();
  return result;
}

function requestOf({ method, path, token, body = '' }: HttpLoad): string {
  number += 1;
  const text = body.replaceAll('%n', String(number));
  const type = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Token ${token}\r\n${type}\r\n${text}`;
}

/** Sends one request and waits for the end of its answer. Lean, because the load shares the machine with the server. */
function exchange(socket: Socket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    let length: number | undefined;
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      length ??= lengthOf(text);
      if (length === undefined || text.length < length) return;
      socket.off('data', onData).off('error', reject);
      if (text.startsWith('HTTP/1.1 200')) resolve();
      else reject(new Error(text));
    };
    socket.on('data', onData).once('error', reject);
    socket.write(request);
  });
}

/** How long the answer is with its head, as soon as the head says so. */
function lengthOf(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  return end + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
}

const insertObject = `insert into objects (account_id, id, kind, name, spec, created_revision, updated_revision, created_at, updated_at)
  values ('bare', $1, 'Group', $2, $3, 1, 1, now(), now())`;
const insertEvent = `insert into audit_events (account_id, id, activity_code, initiator_id, target_id, meta, created_at)
  values ('bare', $1, 'group.add', 'bench', $2, $3, now())`;

async function runTransactions({ url, clients, milliseconds }: TransactionLoad): Promise<LoadResult> {
  const connections = Array.from({ length: clients }, () => new pg.Client({ connectionString: url }));
  await Promise.all(connections.map((client) => client.connect()));
  const result = await repeat(connections, milliseconds, writeBare);
  await Promise.all(connections.map((client) => client.end()));
  return result;
}

async function writeBare(client: pg.Client): Promise<void> {
  number += 1;
  const own = process.pid * 1e8 + number;
  const [id, name] = [`bare-${own}`, `Group ${own}`];
  await client.query('begin');
  await client.query({ name: 'object', text: insertObject, values: [id, name, JSON.stringify({ name, peers: {} })] });
  const event = [own, id, JSON.stringify({ name })];
  await client.query({ name: 'event', text: insertEvent, values: event });
  await client.query('commit');
}

/** Lets every client do its work again and again until the time is over. */
async function repeat<C>(
  clients: readonly C[],
  milliseconds: number,
  work: (client: C) => Promise<void>,
): Promise<LoadResult> {
  const start = performance.now();
  const taken: number[] = [];
  const loop = async (client: C) => {
    for (let at = start; at - start < milliseconds; ) {
      await work(client);
      const now = performance.now();
      taken.push(now - at);
      at = now;
    }
  };
  await Promise.all(clients.map(loop));
  const seconds = (performance.now() - start) / 1000;
  return { perSecond: taken.length / seconds, median: median(taken), longest: taken.reduce((a, b) => Math.max(a, b)) };
}
