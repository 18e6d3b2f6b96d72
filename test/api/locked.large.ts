import pg from 'pg';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { testDatabase } from '../setup/database.ts';
import { apiOn, type TestApi } from './setup.ts';

/** Starts a server, and returns the URL of its database for other connections. */
async function reachable(): Promise<{ readonly api: TestApi; readonly url: string }> {
  const made = await testDatabase('postgres');
  return { api: await apiOn(made.database, () => made[Symbol.asyncDispose]()), url: made.url ?? '' };
}

it('E95 a write that waits over 5 s for another server or program is refused with 423 and the name of the writer', async () => {
  // Runs both concurrently, because each waits for the lock.
  await Promise.all([heldByServer(), heldByProgram()]);
});

async function heldByServer(): Promise<void> {
  const { api, url } = await reachable();
  await using own = api;
  const other = await openDatabase({ url });
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: holds } = Promise.withResolvers<void>();
  const holding = other.withAccountLock(
    own.account,
    async () => {
      holds();
      await gate;
    },
    'plan p1 of Ana',
  );
  await held;
  const [first, second] = await Promise.all([
    own.call('POST', '/api/groups', { name: 'devs' }),
    own.call('GET', '/api/groups'),
  ]);
  expect(second.status).toBe(200);
  expect([first.status, first.headers['retry-after'], first.body.code]).toEqual([423, '1', 423]);
  expect(first.body.message).toMatch(/^the account is held by plan p1 of Ana, for [5-9] s; nothing was changed/);
  release();
  await holding;
  await other.close();
  expect((await own.call('POST', '/api/groups', { name: 'devs' })).status).toBe(200);
}

async function heldByProgram(): Promise<void> {
  const { api, url } = await reachable();
  await using own = api;
  const client = new pg.Client({ connectionString: url, application_name: 'by hand' });
  await client.connect();
  await client.query('begin');
  await client.query('select from accounts where account_id = $1 for update', [own.account]);
  const refused = await own.call('POST', '/api/groups', { name: 'devs' }, { 'idempotency-key': 'k' });
  expect([refused.status, refused.body.message]).toEqual([423, expect.stringContaining('the program by hand, for ')]);
  await client.query('rollback');
  await client.end();
  const again = await own.call('POST', '/api/groups', { name: 'devs' }, { 'idempotency-key': 'k' });
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, undefined]);
}
