import { expect, test } from 'vitest';
import { groups, newMemoryOrigin, openSampleAccount } from './office-source.ts';

test('E137: a wall clock that jumps by an hour back and forth affects neither leases nor intervals', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  let jumps = 0;
  const engine = {
    ...office.engine,
    now: () => {
      jumps += 1;
      return new Date(Date.now() + (jumps % 2 === 0 ? 3_600_000 : -3_600_000)).toISOString();
    },
  };
  const runner = office.run([origin], { engine, intervalMs: 10, leaseSeconds: 3 });
  await expect.poll(office.groups).toEqual(['a']);
  const begun = performance.now();
  const { reads } = origin;
  // Longer than a lease lasts without renewal.
  await expect.poll(() => performance.now() - begun).toBeGreaterThan(3500);
  await expect.poll(() => origin.reads).toBeGreaterThan(reads + 20);
  origin.put(groups('a', 'b'));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  expect(jumps).toBeGreaterThan(1);
  expect(runner.reports.filter(({ level }) => level !== 'info')).toEqual([]);
  const [fences] = await office.rows('select max(fence) as fence from leases');
  expect(fences).toEqual({ fence: 1 });
});
