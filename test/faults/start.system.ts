import { once } from 'node:events';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { copyEmbedded, emptyDatabase, migratedDatabase, temporaryDirectory } from '../setup/database.ts';
import { runHeddle, serveHeddle } from '../setup/heddle.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';
import { onServer } from '../setup/sql.ts';
import { openCuttingProxy } from './cutting-proxy.ts';

let directory: string;
let dataDir: string;

beforeEach(async () => {
  directory = await temporaryDirectory();
  dataDir = join(directory, 'data');
});

/** Occupies a port until it is disposed. */
async function takenPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the port has no number');
  return { port: address.port, [Symbol.dispose]: () => void server.close() };
}

it.each([
  ['--listen', (port: number) => ['--listen', `127.0.0.1:${port}`], () => ({})],
  [
    'HEDDLE_METRICS_LISTEN',
    () => ['--listen', '127.0.0.1:0'],
    (port: number) => ({ HEDDLE_METRICS_LISTEN: `127.0.0.1:${port}` }),
  ],
])('a taken port of %s ends the start before anything is created', async (setting, args, env) => {
  using taken = await takenPort();
  const run = await runHeddle(['serve', '--data-dir', dataDir, ...args(taken.port)], { env: env(taken.port) });
  expect(run.code).toBe(1);
  expect(run.err.trim()).toBe(
    `error: 127.0.0.1:${taken.port} is in use by another program; stop that program or choose another address with ${setting}.`,
  );
  expect(await readdir(directory)).toEqual([]);
});

it('a start is refused with one sentence and exit code 1 when a file of the database is missing', async () => {
  await copyEmbedded(dataDir);
  await rm(join(dataDir, 'postgres/PG_VERSION'));
  const run = await runHeddle(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir]);
  expect(run.code).toBe(1);
  expect(run.err.trim().split('\n')).toHaveLength(1);
  expect(run.err).toContain(`The embedded database in ${dataDir} is damaged: \`postgres/PG_VERSION\` is missing.`);
});

it('a start is refused with one sentence when tables of the database are corrupt', async () => {
  await copyEmbedded(dataDir);
  const tables = join(dataDir, 'postgres/base/5');
  // The first files after those of Postgres itself.
  const own = (await readdir(tables)).filter((name) => Number(name) >= 16_384 && Number(name) < 16_500);
  for (const name of own) {
    const path = join(tables, name);
    if ((await stat(path)).size > 0) await writeFile(path, Buffer.alloc(8192, 'no page'));
  }
  const run = await runHeddle(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir]);
  expect([run.code, run.err.trim().split('\n').length]).toEqual([1, 1]);
  expect(run.err).toMatch(
    /error: The embedded database in .* is damaged: invalid page in block 0 of relation .*Replace the whole directory with a copy/,
  );
});

it('a start is refused with one sentence when the data directory is a file', async () => {
  await writeFile(dataDir, '');
  const run = await runHeddle(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir]);
  expect([run.code, run.err.trim()]).toEqual([
    1,
    `error: The data directory ${dataDir} is not a directory; choose another one with --data-dir.`,
  ]);
});

describe('a first start', () => {
  let made: string;
  let lines: readonly string[];
  let code: number | NodeJS.Signals;

  beforeAll(async () => {
    made = join(await temporaryDirectory(), 'data');
    const umask = process.umask(0);
    const starting = serveHeddle(['--data-dir', made]);
    process.umask(umask);
    await using server = await starting;
    code = await server.stop();
    lines = server.lines;
  });

  it('leaves a data directory that only its user can read, whatever the umask', async () => {
    const entries = await readdir(made, { recursive: true, withFileTypes: true });
    // Postgres rewrites its cache files at any time with its own mode. Other users have no access to their folders.
    const kept = entries.filter(({ name }) => name !== 'pg_internal.init');
    const paths = [made, ...kept.map((entry) => join(entry.parentPath, entry.name))];
    const modes = await Promise.all(paths.map(async (path) => [path, (await stat(path)).mode & 0o077] as const));
    expect(modes.length).toBeGreaterThan(100);
    expect(modes.filter(([, others]) => others !== 0)).toEqual([]);
  });

  it('logs that it creates the database before it does, and a second start does not', async () => {
    const creates = lines.findIndex((line) => line.includes(`first start: creating the embedded database in ${made}`));
    const migrated = lines.findIndex((line) => /the database is at \w+ after \d+ migrations/.test(line));
    expect(creates).toBeGreaterThanOrEqual(0);
    expect(migrated).toBeGreaterThan(creates);
    expect(code).toBe(0);
    await using second = await serveHeddle(['--data-dir', made]);
    expect(second.lines.filter((line) => /first start|database is at/.test(line))).toEqual([]);
  });
});

describe('a Postgres that is not ready yet', () => {
  let postgres: PostgresServer;

  beforeAll(async () => {
    postgres = await startPostgres();
    await postgres.stop();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  const env = () => ({
    HEDDLE_DATABASE_URL: postgres.url(),
    HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
  });

  it('ends the start with a sentence when the time to wait for it is over', async () => {
    const run = await runHeddle(
      ['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir, '--wait-for-database', '1s'],
      {
        env: env(),
      },
    );
    expect([run.code === 0, run.out + run.err]).toEqual([
      false,
      expect.stringMatching(/waiting for the database, for at most 1 s more: The database cannot be reached/),
    ]);
    expect(run.err).toMatch(/Heddle tried for \d+ s; start Postgres, correct HEDDLE_DATABASE_URL, or/);
    expect(run.err).not.toMatch(/\n\s+at /);
  });

  it.each([
    ['database', () => postgres.url('nothing'), /database "nothing" does not exist/],
    ['user', () => postgres.url().replace('//postgres@', '//nobody@'), /role "nobody" does not exist/],
  ])('is not waited for when it answers that there is no such %s', async (_, url, words) => {
    await postgres.start();
    const args = ['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir, '--wait-for-database', '2s'];
    const run = await runHeddle(args, { env: { ...env(), HEDDLE_DATABASE_URL: url() } });
    await postgres.stop();
    expect([run.code, run.err]).toEqual([1, expect.stringMatching(words)]);
    expect(run.err).toMatch(/ Correct the user, the password or the database in HEDDLE_DATABASE_URL, .*\.\n$/);
    expect(run.out + run.err).not.toContain('waiting for the database');
  });

  it('is not waited for when a table of another program is in the way, which is reported in one sentence', async () => {
    await postgres.start();
    await onServer(postgres.url(), 'create table accounts (id int)');
    const run = await runHeddle(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir], { env: env() });
    await onServer(postgres.url(), 'drop table accounts');
    await postgres.stop();
    expect([run.code, run.err]).toEqual([
      1,
      expect.stringMatching(/^error: Heddle's tables cannot be created .*: relation "accounts" already exists\. .*\n$/),
    ]);
    expect(run.out).not.toContain('unreachable');
  });

  it('is not waited for when it accepts no writes, which is reported in one sentence', async () => {
    const url = await migratedDatabase();
    const name = new URL(url).pathname.slice(1);
    await onServer(url, `alter database ${name} set default_transaction_read_only to on`);
    const run = await runHeddle(['serve', '--listen', '127.0.0.1:0', '--data-dir', dataDir], {
      env: { ...env(), HEDDLE_DATABASE_URL: url },
    });
    expect([run.code, run.err]).toEqual([1, expect.stringMatching(/^error: The database accepts no writes: .*\n$/)]);
  });

  it('is waited for until it answers', async () => {
    await using server = await serveHeddle(['--data-dir', dataDir], {
      env: env(),
      async meanwhile(line) {
        await line(/waiting for the database/);
        await postgres.start();
      },
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  it('may go away again in the middle of a start, which begins again', async () => {
    // Each connection is cut at byte 3,000: after its login, and long before all tables are created.
    await using proxy = await openCuttingProxy(await emptyDatabase(), () => 0.5);
    proxy.set('cutting');
    await using server = await serveHeddle(['--data-dir', dataDir], {
      env: { ...env(), HEDDLE_DATABASE_URL: proxy.url },
      async meanwhile(line) {
        await line(/the database became unreachable during the start, which begins again/);
        proxy.set('clear');
      },
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});
