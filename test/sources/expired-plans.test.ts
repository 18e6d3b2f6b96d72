import { expect, test } from 'vitest';
import { approvePlan } from '../../src/features/config/plans/approvals.ts';
import { upTo } from '../commit/office.ts';
import { groups, newMemoryOrigin, openSampleAccount } from './office-source.ts';

test('a waiting plan that expires is made again by the next reconcile, once, and can be approved', async () => {
  const office = await openSampleAccount();
  let later = 0;
  const now = () => new Date(Date.parse(office.engine.now()) + later).toISOString();
  const engine = { ...office.engine, now };
  const origin = newMemoryOrigin('team', groups(...upTo(12).map((at) => `g${at}`)));
  office.run([origin], { engine, intervalMs: 50 });
  await expect.poll(office.groups).toHaveLength(12);
  origin.put(groups('g1'));
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('needs_approval');
  const first = await office.statusOf('team');
  const looks = async () => {
    const { reads } = origin;
    await expect.poll(() => origin.reads).toBeGreaterThan(reads + 3);
  };
  await looks();
  expect(await office.rows('select id from plans')).toEqual([{ id: first.planId }]);
  later = 25 * 3_600_000;
  await expect.poll(async () => (await office.statusOf('team')).planId).not.toBe(first.planId);
  await looks();
  expect(await office.rows('select id from plans')).toHaveLength(2);
  const { planId = '', planDigest = '', message } = await office.statusOf('team');
  expect(planDigest).toBe(first.planDigest);
  expect(message).toContain(`heddle approve ${planId}`);
  await approvePlan(engine, office.call, planId, planDigest);
  await expect.poll(office.groups).toEqual(['g1']);
});
