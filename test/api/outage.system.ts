import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';
import { apiOn, type TestApi } from './setup.ts';

describe.each(['fast', 'kill'] as const)('a server that loses its Postgres (%s)', (how) => {
  let server: PostgresServer;
  let api: TestApi;

  beforeAll(async () => {
    server = await startPostgres();
    const database = await openDatabase({ url: server.url(), poolSize: 4 });
    await migrate(database);
    api = await apiOn(database, () => database.close());
  });

  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const requests = (): readonly [string, string, (object | string)?][] => [
    ['GET', '/api/groups'],
    ['GET', '/api/groups/nothing'],
    ['POST', '/api/groups', { name: 'meanwhile' }],
    ['DELETE', '/api/groups/nothing'],
    ['GET', '/api/config/revisions'],
    ['GET', '/api/config/export'],
    ['POST', '/api/config/apply', { source: 's', files: [] }],
    ['GET', '/metrics'],
  ];

  it('answers 503 with an error body, and works again when Postgres is back', async () => {
    const id = await api.group('before');
    const known = (await api.call('GET', `/api/groups/${id}`)).body;
    await server.stop(how);
    const down = await Promise.all(requests().map(([method, url, body]) => api.call(method, url, body as never)));
    for (const { status, headers, body } of down) {
      expect([status, body]).toEqual([503, { code: 503, message: expect.stringContaining('cannot be reached') }]);
      expect(headers['retry-after']).toBe('1');
    }
    expect((await api.call('GET', '/healthz')).status).toBe(200);
    expect((await api.call('GET', '/readyz')).status).toBe(503);
    expect((await api.app.inject('/api/groups')).statusCode).toBe(401);
    await server.start();
    await expect.poll(async () => (await api.call('GET', '/readyz')).status).toBe(200);
    expect((await api.call('GET', `/api/groups/${id}`)).body).toEqual(known);
    expect((await api.call('POST', '/api/groups', { name: 'after' })).status).toBe(200);
  });

  it('writes each of many concurrent requests completely or not at all while Postgres restarts', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `storm ${at}`);
    const writing = Promise.all(names.map((name) => api.call('POST', '/api/groups', { name })));
    await server.stop(how);
    await server.start();
    const answers = await writing;
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await expect.poll(async () => (await api.call('GET', '/readyz')).status).toBe(200);
    const present = new Set((await api.call('GET', '/api/groups')).body.map(({ name }: { name: string }) => name));
    const done = answers.filter(({ status }) => status === 200).map(({ body }) => body.name);
    expect(done.filter((name) => !present.has(name))).toEqual([]);
    for (const name of names.filter((one) => !done.includes(one))) {
      const status = present.has(name) ? 409 : 200;
      expect((await api.call('POST', '/api/groups', { name })).status).toBe(status);
    }
  });
});

it('a write during which Postgres is killed is answered with 503 in_doubt, and its retry creates one object', async () => {
  // Runs both concurrently, because each tries for the maximum time.
  await Promise.all([loseWrite({}), loseWrite({ 'idempotency-key': 'k' })]);
});

async function loseWrite(headers: Readonly<Record<string, string>>): Promise<void> {
  await using server = await startPostgres();
  const database = await openDatabase({ url: server.url(), poolSize: 4 });
  await migrate(database);
  await using api = await apiOn(database, () => database.close());
  const holder = await openDatabase({ url: server.url(), poolSize: 1 });
  const { promise: held, resolve: holds } = Promise.withResolvers<void>();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const work = async () => {
    holds();
    await gate;
  };
  const holding = expect(holder.withAccountLock(api.account, work)).rejects.toThrow(Unavailable);
  await held;
  const create = () => api.call('POST', '/api/groups', { name: 'devs' }, headers);
  const writing = create();
  const waiting = statement("select from pg_stat_activity where wait_event_type = 'Lock'", []);
  await expect.poll(() => database.lookUp(waiting)).toHaveLength(1);
  await server.stop('kill');
  release();
  await holding;
  const inDoubt = await writing;
  expect([inDoubt.status, inDoubt.body]).toEqual([
    503,
    {
      code: 503,
      message: expect.stringContaining('whether the write happened is unknown'),
      problems: [{ code: 'in_doubt', message: expect.any(String) }],
      request: expect.any(String),
    },
  ]);
  // Without a key, a retry may carry out the write twice.
  const hasKey = 'idempotency-key' in headers;
  expect(inDoubt.headers['retry-after']).toBe(hasKey ? '1' : undefined);
  await server.start();
  await expect.poll(async () => (await api.call('GET', '/api/groups')).status).toBe(200);
  const found = await api.call('GET', `/api/config/revisions?request=${inDoubt.body.request}`);
  expect([found.status, found.body]).toEqual([200, []]);
  await expect.poll(async () => (await create()).status).toBe(200);
  expect((await api.call('GET', '/api/groups?name=devs')).body).toHaveLength(1);
  // That the server could not store the answer is logged as `Unavailable`. It is not a defect.
  expect(api.defects.splice(0).every((error) => error instanceof Unavailable)).toBe(true);
  await holder.close();
}

it('a full disk of the database is answered with 503 disk_full, and nothing is written', async () => {
  await using server = await startPostgres();
  const database = await openDatabase({ url: server.url(), poolSize: 2 });
  await migrate(database);
  await using api = await apiOn(database, () => database.close());
  await database.asOwner([
    `create function full_disk() returns trigger language plpgsql as $$ begin raise 'could not extend file' using errcode = '53100'; end $$`,
    'create trigger full_disk before insert on objects execute function full_disk()',
  ]);
  const { status, headers, body } = await api.call('POST', '/api/groups', { name: 'devs' });
  expect([status, headers['retry-after'], body.problems]).toEqual([
    503,
    '1',
    [{ code: 'disk_full', message: expect.stringContaining('disk of the database is full') }],
  ]);
  expect((await api.call('GET', '/api/groups?name=devs')).body).toEqual([]);
});
