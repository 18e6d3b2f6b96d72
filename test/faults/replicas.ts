import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { makeToken } from '../../src/lib/token.ts';
import { migratedDatabase, temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';

/** Token of the machine owner, the same for all replicas. */
export const token = makeToken('nbp_', new Uint8Array(32).fill(9));

/** Servers on one Postgres. `start` starts one more. */
export interface Replicas extends AsyncDisposable {
  readonly url: string;
  start(): Promise<ServedHeddle>;
}

/** Prepares a database for any number of servers that run with the same flags. */
export async function openReplicas(
  flags: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<Replicas> {
  const [url, dataDir] = [await migratedDatabase(), await temporaryDirectory()];
  const env = {
    HEDDLE_BOOTSTRAP_TOKEN: token,
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    HEDDLE_LEASE: '3s',
    ...more,
  };
  const running = new Set<ServedHeddle>();
  return {
    url,
    async start() {
      const server = await serveHeddle(['--database-url', url, '--data-dir', dataDir, ...flags], { env });
      running.add(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...running].map((server) => server.stop('SIGKILL')));
    },
  };
}

/** Sends a request as the owner. Throws when no answer arrives. */
export async function ask(server: ServedHeddle, method: string, path: string, body?: object) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
}

/** Result of writes to two servers while one of them was killed and restarted repeatedly. */
export interface MixedWrites {
  readonly acknowledged: readonly string[];
  readonly kills: number;
  /** Violations: a wrong status, or no answer from a server that was not killed. */
  readonly faults: readonly string[];
}

/**
 * Runs clients that write to both servers and read each write through the other server, while the second server is
 * killed.
 */
export async function writeWhileKilling(
  replicas: Replicas,
  { clients, kills, betweenMs }: { readonly clients: number; readonly kills: number; readonly betweenMs: number },
): Promise<MixedWrites> {
  const steady = await replicas.start();
  let shaken = await replicas.start();
  let isDown = false;
  let ended = false;
  const acknowledged: string[] = [];
  const faults: string[] = [];
  const use = async (server: ServedHeddle, work: () => Promise<void>): Promise<void> => {
    const wasDown = isDown;
    await work().catch((error: unknown) => {
      const isKilled = server !== steady && (wasDown || isDown || server !== shaken);
      if (!isKilled) faults.push(`no answer of a server that was up: ${error}`);
    });
  };
  const client = async (number: number): Promise<void> => {
    for (let turn = 0; !ended; turn++) {
      const name = `c${number}-${turn}`;
      const [writer, reader] = turn % 2 === 0 ? [steady, shaken] : [shaken, steady];
      await use(writer, async () => {
        const made = await ask(writer, 'POST', '/api/groups', { name });
        if (made.status !== 200) faults.push(`${name}: ${made.status} ${JSON.stringify(made.body)}`);
        else acknowledged.push(name);
      });
      if (acknowledged.at(-1) !== name && !acknowledged.includes(name)) continue;
      await use(reader, async () => {
        const found = await ask(reader, 'GET', `/api/groups?name=${name}`);
        if (found.status !== 200 || found.body.length !== 1)
          faults.push(`${name} is not read through the other server: ${found.status}`);
      });
    }
  };
  const work = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  for (let kill = 0; kill < kills; kill++) {
    await delay(Math.random() * betweenMs);
    isDown = true;
    await shaken.stop('SIGKILL');
    shaken = await replicas.start();
    isDown = false;
  }
  await delay(betweenMs);
  ended = true;
  await work;
  return { acknowledged, kills, faults };
}

/** Checks the account at the end: every acknowledged group exists once, and the revisions have no gap. */
export async function expectNothingLost(replicas: Replicas, { acknowledged, faults }: MixedWrites): Promise<void> {
  expect(faults).toEqual([]);
  const database = await openDatabase({ url: replicas.url });
  const rows = await database.lookUp(
    statement<{ readonly name: string }>(`select name from objects where kind = 'Group'`, []),
  );
  const names = rows.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(acknowledged.filter((name) => !names.includes(name))).toEqual([]);
  const [counted] = await database.lookUp(
    statement<{ readonly revisions: number; readonly newest: number; readonly head: number }>(
      `select (select count(*) from revisions) as revisions, (select max(revision) from revisions) as newest,
        (select max(revision) from accounts) as head`,
      [],
    ),
  );
  await database.close();
  expect(counted).toEqual({ revisions: counted?.newest, newest: counted?.newest, head: counted?.newest });
}
