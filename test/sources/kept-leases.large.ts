import { expect, onTestFinished, test } from 'vitest';
import { openLeaseKeeper } from '../../src/db/leases/lease-keeper.ts';
import { groups, newMemoryOrigin, openSampleAccount } from './office-source.ts';

test('a server keeps its source leases while its main thread is busy for longer than they last', async () => {
  const office = await openSampleAccount();
  const failures: unknown[] = [];
  const leases = openLeaseKeeper({
    database: { url: office.made.url ?? '' },
    onFailure: (error) => void failures.push(error),
  });
  onTestFinished(() => leases.close());
  const runner = office.run([newMemoryOrigin('team', groups('a'))], { leaseSeconds: 6, leases });
  await expect.poll(office.groups).toEqual(['a']);
  const until = async () =>
    Number((await office.rows('select extract(epoch from until)::float8 as until from leases'))[0]?.['until']);
  const first = await until();
  // This renewal shows that the thread has started: only the thread renews so early.
  await expect.poll(until).toBeGreaterThan(first);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7000);
  const leasesNow = await office.rows('select until > clock_timestamp() as held, fence from leases');
  expect([leasesNow, failures]).toEqual([[{ held: true, fence: 1 }], []]);
  expect(runner.reports.filter(({ level }) => level !== 'info')).toEqual([]);
});
