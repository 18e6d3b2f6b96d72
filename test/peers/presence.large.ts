import { expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import type { Database } from '../../src/db/database.ts';
import { openLeaseKeeper } from '../../src/db/leases/lease-keeper.ts';
import { takeLease } from '../../src/db/leases/leases.ts';
import { createConnectionTracker } from '../../src/features/peers/connection-tracker.ts';
import { apiOn } from '../api/setup.ts';
import { testDatabase } from '../setup/database.ts';

it('peers stay connected while the main thread is blocked for longer than the lease of the server', async () => {
  await using made = await testDatabase('postgres');
  await using own = await apiOn(made.database, async () => {});
  const { engine, account } = own;
  const [id = ''] = await own.peers('kept');
  const leases = openLeaseKeeper({
    database: { url: made.url ?? '' },
    onFailure: (error) => expect(error).toBeUndefined(),
  });
  const here = createConnectionTracker({ engine, server: 'busy', failed: () => undefined, leases, leaseSeconds: 6 });
  here.connected(account, id, 'stream');
  await here.settle();
  // A later end of the lease shows that the thread that renews leases has started.
  await expect.poll(() => leaseEnd(engine.database)).toBeGreaterThan((await leaseEnd(engine.database)) + 0.5);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7000);
  const thief = { account, name: 'peers/busy', owner: 'thief', seconds: 1 };
  expect(await takeLease(engine.database, thief)).toBeUndefined();
  here.gone(account, id, 'stream');
  await here.close();
  expect(await takeLease(engine.database, thief)).toBeDefined();
  await leases.close();
});

/** Returns the end of the lease by the database clock, in seconds since the epoch. */
async function leaseEnd(database: Database): Promise<number> {
  const text = `select extract(epoch from until)::float8 as until from leases where name = 'peers/busy'`;
  const [row] = await database.lookUp(statement<{ readonly until: number }>(text, []));
  return row?.until ?? 0;
}
