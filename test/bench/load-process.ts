import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { enrolBare, enrolMachine, prepareMachines } from './enrolling.ts';
import {
  type BareEnrolmentLoad,
  type EnrolmentLoad,
  type HttpLoad,
  type HttpTarget,
  type Load,
  type LoadResult,
  type ProbeLoad,
  stopMessage,
  type TransactionLoad,
} from './load.ts';
import { connectClients, exchange } from './sockets.ts';
import { median } from './timing.ts';

let isStopped = false;

process.on('message', (load: Load | typeof stopMessage) => {
  isStopped = load === stopMessage;
  if (load === stopMessage) return;
  run(load).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.(String(error)),
  );
});

function run(load: Load): Promise<LoadResult> {
  switch (load.type) {
    case 'http':
      return runHttp(load);
    case 'probes':
      return runProbes(load);
    case 'transactions':
      return runTransactions(load);
    case 'enrolments':
      return runEnrolments(load);
    case 'bare enrolments':
      return runBareEnrolments(load);
  }
}

let number = 0;

async function runHttp(load: HttpLoad): Promise<LoadResult> {
  const clients = await connectTo(load.targets, load.clients);
  const result = await repeat(clients, isOver(load), async ({ target, socket }) => {
    await exchange(socket, requestOf(target));
  });
  for (const { socket } of clients) socket.destroy();
  return result;
}

async function runProbes({ targets, pauseMilliseconds }: ProbeLoad): Promise<LoadResult> {
  const clients = await connectTo(targets, targets.length);
  const start = performance.now();
  const taken: number[] = [];
  // At least one round, however soon the work ends.
  do {
    for (const { target, socket } of clients) {
      const sent = performance.now();
      await exchange(socket, requestOf(target));
      taken.push(performance.now() - sent);
    }
    await delay(pauseMilliseconds);
  } while (!isStopped);
  for (const { socket } of clients) socket.destroy();
  return resultOf(taken, start);
}

interface Client {
  readonly target: HttpTarget;
  readonly socket: Socket;
}

/** Opens connections for this number of clients, over which the targets are distributed. */
function connectTo(targets: readonly HttpTarget[], clients: number): Promise<readonly Client[]> {
  return Promise.all(
    Array.from({ length: clients }, async (_, at) => {
      const target = targets[at % targets.length];
      if (target === undefined) throw new Error('the load has no target');
      const [socket] = await connectClients(target.url, 1);
      return { target, socket: socket as Socket };
    }),
  );
}

function requestOf({ method, path, token, body = '', known }: HttpTarget): string {
  number += 1;
  const text = body.replaceAll('%n', String(number));
  const type = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  const condition = known === undefined ? '' : `if-none-match: ${known}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Token ${token}\r\n${condition}${type}\r\n${text}`;
}

/**
 * Generates the keys before the measurement starts. Real machines each make their own keys; here all keys would be made
 * on one core.
 */
async function runEnrolments({ url, clients, machines, setupKey }: EnrolmentLoad): Promise<LoadResult> {
  const waiting = prepareMachines(machines);
  const sockets = await connectClients(url, clients);
  const result = await repeat(
    sockets,
    () => waiting.length === 0,
    async (socket: Socket) => {
      const machine = waiting.pop();
      if (machine !== undefined) await enrolMachine(socket, machine, setupKey);
    },
  );
  for (const socket of sockets) socket.destroy();
  return result;
}

async function runBareEnrolments(load: BareEnrolmentLoad): Promise<LoadResult> {
  return withConnections(load, (client) => enrolBare(client, ownNumber()));
}

const insertObject = `insert into objects (account_id, id, kind, name, spec, created_revision, updated_revision, created_at, updated_at)
  values ('bare', $1, 'Group', $2, $3, 1, 1, now(), now())`;
const insertEvent = `insert into audit_events (account_id, id, activity_code, initiator_id, target_id, meta, created_at)
  values ('bare', $1, 'group.add', 'bench', $2, $3, now())`;

async function runTransactions(load: TransactionLoad): Promise<LoadResult> {
  return withConnections(load, writeBare);
}

async function writeBare(client: pg.Client): Promise<void> {
  const own = ownNumber();
  const [id, name] = [`bare-${own}`, `Group ${own}`];
  await client.query('begin');
  await client.query({ name: 'object', text: insertObject, values: [id, name, JSON.stringify({ name, peers: {} })] });
  const event = [own, id, JSON.stringify({ name })];
  await client.query({ name: 'event', text: insertEvent, values: event });
  await client.query('commit');
}

function ownNumber(): number {
  number += 1;
  return process.pid * 1e8 + number;
}

async function withConnections(
  load: TransactionLoad | BareEnrolmentLoad,
  work: (client: pg.Client) => Promise<void>,
): Promise<LoadResult> {
  const connections = Array.from({ length: load.clients }, () => new pg.Client({ connectionString: load.url }));
  await Promise.all(connections.map((client) => client.connect()));
  const result = await repeat(connections, isOver(load), work);
  await Promise.all(connections.map((client) => client.end()));
  return result;
}

function isOver({ milliseconds }: { readonly milliseconds: number }): () => boolean {
  const end = performance.now() + milliseconds;
  return () => performance.now() >= end;
}

/** Runs `work` repeatedly for every client until `over` returns true. */
async function repeat<C>(
  clients: readonly C[],
  over: () => boolean,
  work: (client: C) => Promise<void>,
): Promise<LoadResult> {
  const start = performance.now();
  const taken: number[] = [];
  const loop = async (client: C) => {
    for (let at = start; !over(); ) {
      await work(client);
      const now = performance.now();
      taken.push(now - at);
      at = now;
    }
  };
  await Promise.all(clients.map(loop));
  return resultOf(taken, start);
}

function resultOf(taken: readonly number[], start: number): LoadResult {
  const seconds = (performance.now() - start) / 1000;
  const longest = taken.reduce((a, b) => Math.max(a, b));
  return { count: taken.length, perSecond: taken.length / seconds, median: median(taken), longest };
}
