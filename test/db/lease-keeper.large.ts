import { expect, it } from 'vitest';
import { openLeaseKeeper } from '../../src/db/leases/lease-keeper.ts';
import { renewLease, takeLease } from '../../src/db/leases/leases.ts';
import { testDatabase } from '../setup/database.ts';
import { refuseThreads } from '../setup/threads.ts';

/** Blocks this thread, as a long computation does. */
function block(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Creates an account whose lease this process has and a thread renews. */
async function office(
  seconds: number,
  failed = (error: unknown): void => {
    throw error;
  },
  silence: { readonly maxSilenceMs?: number } = {},
) {
  const { url = '', database, ...made } = await testDatabase('postgres');
  await database.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"]);
  const keeper = openLeaseKeeper({
    database: { url },
    onFailure: failed,
    ...silence,
  });
  const request = { account: 'a', name: 'source/x', seconds };
  const lease = await takeLease(database, { ...request, owner: 'one' });
  if (lease === undefined) throw new Error('the lease is free');
  keeper.hold(lease, seconds);
  /** Returns the time at which the lease ends, by the clock of the database, in seconds since 1970. */
  const until = async (): Promise<number> => {
    let rows: readonly Readonly<Record<string, unknown>>[] = [];
    await database.asOwner(async (run) => {
      rows = await run('select extract(epoch from until)::float8 as until from leases');
    });
    return Number(rows[0]?.['until']);
  };
  return {
    ...{ database, keeper, lease, until },
    takeAsOther: () => takeLease(database, { ...request, owner: 'two' }),
    async [Symbol.asyncDispose]() {
      await keeper.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

it('a lease is renewed while the main thread is blocked for longer than the lease lasts', async () => {
  await using own = await office(6);
  const first = await own.until();
  // The lease was renewed, so the thread has started.
  await expect.poll(own.until).toBeGreaterThan(first);
  block(7000);
  expect(await own.takeAsOther()).toBeUndefined();
  expect(await renewLease(own.database, own.lease, 6)).toBe(true);
});

it('a lease expires when the main thread is silent for longer than the limit', async () => {
  // The lease lasts longer than the thread takes to start on a busy machine, because an expired lease is not renewed
  // any more.
  await using own = await office(12, undefined, { maxSilenceMs: 3000 });
  const first = await own.until();
  await expect.poll(own.until).toBeGreaterThan(first);
  own.keeper.hold(own.lease, 2);
  await expect.poll(own.until).toBeLessThan(first);
  block(7000);
  expect(await own.takeAsOther()).toMatchObject({ owner: 'two' });
});

it('a released lease is not renewed', async () => {
  await using own = await office(4);
  const first = await own.until();
  await expect.poll(own.until).toBeGreaterThan(first);
  own.keeper.release(own.lease);
  await expect.poll(own.takeAsOther).toMatchObject({ owner: 'two' });
});

it('a renewal thread that fails to start is reported once, and a later one renews the held leases', async () => {
  const reported: unknown[] = [];
  const withoutThreads = async () => {
    using _none = refuseThreads();
    const own = await office(20, (error) => reported.push(error));
    own.keeper.hold({ ...own.lease, name: 'source/y' }, 20);
    return own;
  };
  await using own = await withoutThreads();
  const first = await own.until();
  // The lease is renewed although the test does not call `hold` again.
  await expect.poll(own.until).toBeGreaterThan(first);
  expect(reported).toMatchObject([{ code: 'ERR_WORKER_INIT_FAILED' }]);
});
