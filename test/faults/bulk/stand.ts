import { setTimeout as delay } from 'node:timers/promises';
import { findEntry } from '../../../src/db/accounts/directory.ts';
import { insertToken } from '../../../src/db/accounts/tokens.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { createAccountFor } from '../../../src/features/accounts/join.ts';
import { hashToken } from '../../../src/features/auth/authenticate.ts';
import { makeToken } from '../../../src/lib/token.ts';
import { apiOn, token } from '../../api/setup.ts';
import { serveGauged } from '../gauged-server.ts';
import type { Gauge } from '../hostile/gauge-reader.ts';

const otherToken = makeToken('nbp_', new Uint8Array(32).fill(12));

/** Answer to a request, and the load on the server and the delays of other requests while it ran. */
export interface Bulk {
  readonly status: number;
  readonly text: string;
  readonly gauge: Gauge;
  /** Time until each answer to `/healthz`, and to a read of another account, in milliseconds. */
  readonly health: readonly number[];
  readonly reads: readonly number[];
  readonly milliseconds: number;
}

/**
 * A server in a separate process, with an account for bulk requests, and another account that is read while they run.
 */
export interface BulkStand extends AsyncDisposable {
  send(method: string, path: string, body?: object): Promise<Bulk>;
}

/** Starts the server and creates both accounts. */
export async function openBulkStand(): Promise<BulkStand> {
  const { server, database, gauge } = await serveGauged(token);
  await addNeighbour(database);
  return {
    async send(method, path, body) {
      const text = body === undefined ? undefined : JSON.stringify(body);
      await gauge();
      const ended = new AbortController();
      const health = probe(`${server.url}/healthz`, ended.signal);
      const reads = probe(`${server.url}/api/groups`, ended.signal, otherToken);
      const start = performance.now();
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
        ...(text === undefined ? {} : { body: text }),
      });
      const answered = await response.text();
      const milliseconds = performance.now() - start;
      ended.abort();
      const waits = { health: await health, reads: await reads };
      return { status: response.status, text: answered, gauge: await gauge(), milliseconds, ...waits };
    },
    async [Symbol.asyncDispose]() {
      await server.stop('SIGKILL');
    },
  };
}

/** Creates the other account. */
async function addNeighbour(url: string): Promise<void> {
  await using made = await apiOn(await openDatabase({ url }), async () => {});
  const { engine } = made;
  const person = { issuer: 'https://id.example.com', subject: 'bea', email: 'bea@birch.example', emailVerified: true };
  await createAccountFor(engine, { ...person, name: 'Bea Birch' }, 'birch.example');
  const account = (await findEntry(engine.database, 'domain', 'birch.example')) ?? '';
  const owner = (await engine.snapshots.fresh(account)).ofKind('User').find(({ spec }) => spec['role'] === 'owner');
  const user = owner?.id ?? '';
  await insertToken(engine.database, {
    ...{ account, id: engine.newId(), user, createdBy: user, name: 'test', hash: hashToken(otherToken) },
    ...{ createdAt: engine.now(), expiresAt: '2999-01-01T00:00:00Z' },
  });
}

/**
 * Sends one request after the other until the signal, and returns the time until each answer, in milliseconds. Throws
 * when a request is refused.
 */
async function probe(url: string, ended: AbortSignal, as?: string): Promise<readonly number[]> {
  const times: number[] = [];
  while (!ended.aborted) {
    const begin = performance.now();
    const response = await fetch(url, as === undefined ? {} : { headers: { authorization: `Token ${as}` } });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
    times.push(performance.now() - begin);
    await delay(5);
  }
  return times;
}
