import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { type PostgresServer, startPostgres } from '../setup/server.ts';
import { apiOn, type TestApi } from './setup.ts';

describe.each(['fast', 'kill'] as const)('a Postgres that goes away under a running server (%s)', (how) => {
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

  it('answers 503 in the shape of errors, and goes on when it is back', async () => {
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

  it('writes each of many requests wholly or not at all while it comes and goes', async () => {
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
