import pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Terminal } from '../../src/cli/terminal/terminal.ts';
import { apiOn, type TestApi, type TestApiOptions, token } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';
import { runHere } from './collect.ts';

/** Result of a command line. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly note: string;
}

/** A server that listens inside this process, and functions that run command lines against it as its owner. */
export interface Served extends AsyncDisposable {
  readonly api: TestApi;
  readonly url: string;
  /** Environment variables with which a command line connects to the server. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command line. `options` change the terminal, for example its answers to questions. */
  heddle(argv: readonly string[], options?: Partial<Terminal>): Promise<Ran>;
  /** Runs a command line with `--json`. Returns the exit code and the document that it wrote. */
  json(...argv: readonly string[]): Promise<{ readonly code: number; readonly document: Document }>;
  /** Blocks every commit until the lock is released. */
  holdCommits(): Promise<Hold>;
}

/** A database lock that blocks commits. */
export interface Hold {
  /** Resolves when a database session waits for a lock. */
  waited(): Promise<void>;
  release(): Promise<void>;
}

// Tests look into documents member by member; a wrong member is `undefined` and fails the test.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Document = any;

/** Starts a separate server on a new database. */
export async function serve(options: TestApiOptions = {}): Promise<Served> {
  const made = await testDatabase('postgres');
  const api = await apiOn(made.database, () => made[Symbol.asyncDispose](), options);
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 });
  const env = { HEDDLE_SERVER: url, HEDDLE_TOKEN: token };
  const heddle = (argv: readonly string[], terminal: Partial<Terminal> = {}) => runHere(argv, env, terminal);
  return {
    ...{ api, url, env, heddle },
    async json(...argv) {
      const { code, out } = await heddle([...argv, '--json']);
      return { code, document: JSON.parse(out) };
    },
    holdCommits: () => holdCommits(made.url ?? '', api.account),
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

async function holdCommits(url: string, account: string): Promise<Hold> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query('select from accounts where account_id = $1 for no key update', [account]);
  const waiting = `select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const countWaiting = async (): Promise<number> => {
    // Within a transaction, Postgres keeps showing the sessions as of the first query, but a new session may be the one
    // that waits.
    await client.query('select pg_stat_clear_snapshot()');
    return (await client.query(waiting)).rows[0].waiting;
  };
  return {
    waited: () => expect.poll(countWaiting).toBeGreaterThan(0),
    async release() {
      await client.query('rollback');
      await client.end();
    },
  };
}

/**
 * Starts one server for all tests of a file that do not disturb each other. Returns a function that returns the server.
 */
export function sharedServer(options: TestApiOptions = {}): () => Served {
  let served: Served | undefined;
  beforeAll(async () => {
    served = await serve(options);
  });
  afterAll(() => served?.[Symbol.asyncDispose]());
  return () => {
    if (served === undefined) throw new Error('the server is started before the first test');
    return served;
  };
}
