import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { doc } from '../api/documents.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';
import { type CuttingProxy, openCuttingProxy } from './cutting-proxy.ts';
import { token } from './replicas.ts';

/** A server with the proxy between it and Postgres. */
interface Replica {
  readonly proxy: CuttingProxy;
  server: ServedHeddle;
  /** Whether a fault is being applied to the server. Only one is applied at a time. */
  isBusy: boolean;
}

/** A write and its result. */
interface Attempt {
  readonly kind: string;
  readonly name: string;
  /** Absent when no answer arrived: the outcome is unknown. */
  readonly status: number | undefined;
}

const replicas = 3;
const clients = 6;
/** How long a client waits for one answer, and how long it repeats a request with a key, in milliseconds. */
const answerMs = 20_000;
const repeatMs = 120_000;

/**
 * Runs three servers on one Postgres while connections are cut, servers are killed and stopped, networks go dark, and
 * Postgres itself stops and crashes. Expects at the end that every acknowledged write exists once, that all others
 * exist whole or not at all, and that the servers answer with the same bytes.
 */
export async function weatherStorm(milliseconds: number): Promise<{ readonly acknowledged: number }> {
  await using postgres = await startPostgres();
  await using stack = new AsyncDisposableStack();
  const dataDir = await temporaryDirectory();
  const start = (proxy: CuttingProxy) => {
    const env = { HEDDLE_BOOTSTRAP_TOKEN: token, HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64') };
    return serveHeddle(['--database-url', proxy.url, '--data-dir', dataDir], { env });
  };
  const all: Replica[] = [];
  for (let number = 0; number < replicas; number++) {
    const proxy = stack.use(await openCuttingProxy(postgres.url(), Math.random));
    const replica = { proxy, server: await start(proxy), isBusy: false };
    stack.defer(async () => void (await replica.server.stop('SIGKILL')));
    all.push(replica);
  }
  const end = performance.now() + milliseconds;
  const isOver = () => performance.now() > end;
  const attempts: Attempt[] = [];
  const faults: string[] = [];
  const writers = Array.from({ length: clients }, (_, number) => writeOn(all, { number, isOver, attempts, faults }));
  await trouble(all, postgres, start, isOver);
  await Promise.all(writers);
  expect(faults).toEqual([]);
  await expectAgreement(all);
  await expectWhole(postgres, attempts);
  return { acknowledged: attempts.filter(({ status }) => status === 200).length };
}

/** Applies faults to random servers and to Postgres until the storm is over, and ends all of them before it returns. */
async function trouble(
  all: readonly Replica[],
  postgres: PostgresServer,
  start: (proxy: CuttingProxy) => Promise<ServedHeddle>,
  isOver: () => boolean,
): Promise<void> {
  const under: Promise<void>[] = [];
  let isDown = false;
  const faults: readonly ((replica: Replica) => Promise<void>)[] = [
    async ({ proxy }) => {
      proxy.set('cutting');
      await delay(3000);
    },
    async ({ proxy }) => {
      proxy.set('dark');
      await delay(Math.random() * 9000);
    },
    async ({ server }) => {
      process.kill(server.pid, 'SIGSTOP');
      await delay(Math.random() * 9000);
      process.kill(server.pid, 'SIGCONT');
    },
    async (replica) => {
      await replica.server.stop('SIGKILL');
      replica.server = await start(replica.proxy);
    },
    async () => {
      if (isDown) return;
      isDown = true;
      await postgres.stop(Math.random() < 0.5 ? 'fast' : 'kill');
      await delay(Math.random() * 3000);
      await postgres.start();
      isDown = false;
    },
  ];
  for (let turn = 0; !isOver(); turn++) {
    const replica = all[Math.floor(Math.random() * all.length)];
    if (replica !== undefined && !replica.isBusy) {
      replica.isBusy = true;
      const work = faults[turn % faults.length]?.(replica).finally(() => {
        replica.proxy.set('clear');
        replica.isBusy = false;
      });
      if (work !== undefined) under.push(work);
    }
    await delay(300 + Math.random() * 1200);
  }
  await Promise.all(under);
}

interface Writing {
  readonly number: number;
  readonly isOver: () => boolean;
  readonly attempts: Attempt[];
  readonly faults: string[];
}

/** Sends writes to random servers, with and without a key. */
async function writeOn(all: readonly Replica[], { number, isOver, attempts, faults }: Writing): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    const name = `w${number}-${turn}`;
    const [kind, path, body] = shapes[turn % shapes.length]?.(name) ?? ['', '', {}];
    const isKeyed = turn % 3 !== 0;
    const begun = performance.now();
    let status: number | undefined;
    do {
      const answer = await post(pick(all), path, body, isKeyed ? name : undefined);
      status = answer?.status;
      if (status !== undefined && !isPassing(status, answer?.text ?? ''))
        if (status !== 200) faults.push(`${kind} ${name}: ${status} ${answer?.text}`);
      if (status === 200 || !isKeyed) break;
      await delay(200);
    } while (performance.now() - begun < repeatMs);
    if (isKeyed && status !== 200) faults.push(`${kind} ${name}: no answer, at last ${status}`);
    attempts.push({ kind, name, status: status === 200 ? 200 : undefined });
  }
}

type Shape = (name: string) => readonly [kind: string, path: string, body: object];

const shapes: readonly Shape[] = [
  (name) => ['Group', '/api/groups', { name }],
  (name) => ['PostureCheck', '/api/posture-checks', { name, description: '', checks: {} }],
  (name) => [
    'SetupKey',
    '/api/setup-keys',
    { name, type: 'reusable', expires_in: 86_400, auto_groups: [], usage_limit: 0 },
  ],
  (name) => [
    'Group',
    '/api/config/apply',
    { source: name, files: [{ path: 'a.yaml', text: doc('Group', name, `name: ${name}`) }] },
  ],
];

function pick(all: readonly Replica[]): string {
  return all[Math.floor(Math.random() * all.length)]?.server.url ?? '';
}

async function post(url: string, path: string, body: object, key: string | undefined) {
  try {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Token ${token}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerMs),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    // The server was killed or stopped, or the connection broke, as this test intends.
    return undefined;
  }
}

function isPassing(status: number, text: string): boolean {
  return status === 503 || status === 423 || (status === 409 && /is still running|send it again/.test(text));
}

const lists = [
  '/api/groups',
  '/api/posture-checks',
  '/api/setup-keys',
  '/api/policies',
  '/api/users',
  '/api/config/export',
];

/** Expects that all servers answer with the same bytes once they run. */
async function expectAgreement(all: readonly Replica[]): Promise<void> {
  for (const path of lists) {
    const read = ({ server: { url } }: Replica) =>
      fetch(url + path, { headers: { authorization: `Token ${token}` } }).then((response) => response.text());
    await expect.poll(async () => new Set(await Promise.all(all.map(read))).size, { interval: 500 }).toBe(1);
    for (const replica of all) expect(await read(replica)).not.toContain('"code":503');
  }
}

/**
 * Expects that every acknowledged write exists once, that every other write exists once or not at all, and that there
 * is one history.
 */
async function expectWhole(postgres: PostgresServer, attempts: readonly Attempt[]): Promise<void> {
  const database = await openDatabase({ url: postgres.url(), poolSize: 1 });
  try {
    const rows = await database.lookUp(
      statement<{ readonly kind: string; readonly name: string; readonly count: number }>(
        `select kind, name, count(*) as count from objects where name like 'w%' group by 1, 2`,
        [],
      ),
    );
    const counts = new Map(rows.map(({ kind, name, count }) => [`${kind} ${name}`, count]));
    const wrong = attempts.filter(({ kind, name, status }) => {
      const count = counts.get(`${kind} ${name}`) ?? 0;
      return status === 200 ? count !== 1 : count > 1;
    });
    expect(wrong).toEqual([]);
    const [history] = await database.lookUp(
      statement<{ readonly revisions: number; readonly newest: number; readonly head: number }>(
        `select (select count(*) from revisions) as revisions, (select max(revision) from revisions) as newest, revision as head
        from accounts`,
        [],
      ),
    );
    // The oldest revisions of a long storm are folded. The kept revisions have no gap.
    expect(history?.newest).toBe(history?.head);
    expect(history?.revisions).toBeGreaterThan(0);
  } finally {
    await database.close();
  }
}
