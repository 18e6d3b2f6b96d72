import { expect, test } from 'vitest';
import { applyPlan } from '../../src/features/config/plans/apply-plan.ts';
import { approvePlan } from '../../src/features/config/plans/approvals.ts';
import { createRollbackPlan } from '../../src/features/config/plans/rollback.ts';
import { suspendSource } from '../../src/features/sources/sources.ts';
import { groups, newMemoryOrigin, openSampleAccount } from './office-source.ts';

type Office = Awaited<ReturnType<typeof openSampleAccount>>;

/** Rolls the account back to a revision, as a user who reviewed the plan does. */
async function goBack({ engine, call }: Office, revision: number): Promise<void> {
  const plan = await createRollbackPlan(engine, call, { revision, scope: 'sources' });
  await applyPlan(engine, call, plan.id ?? '', { approve: plan.digest });
}

const revisionOf = async ({ engine, account }: Office) => (await engine.snapshots.fresh(account)).revision;

test('E111: a source that is rolled back is suspended; E113: resumed with unchanged documents, it needs an approval', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a', 'b'));
  office.run([origin], { intervalMs: 20 });
  await expect.poll(office.groups).toEqual(['a', 'b']);
  const then = await revisionOf(office);
  origin.put(groups('a', 'c'));
  await expect.poll(office.groups).toEqual(['a', 'c']);
  await goBack(office, then);
  expect(await office.groups()).toEqual(['a', 'b']);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('suspended');
  const { reads } = origin;
  await suspendSource(office.engine, office.call, { id: 'team', suspended: false });
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('needs_approval');
  await expect.poll(() => origin.reads).toBeGreaterThan(reads);
  expect(await office.groups()).toEqual(['a', 'b']);
  const { planId = '', planDigest = '' } = await office.statusOf('team');
  await approvePlan(office.engine, office.call, planId, planDigest);
  await expect.poll(office.groups).toEqual(['a', 'c']);
  origin.put(groups('a', 'd'));
  await expect.poll(office.groups).toEqual(['a', 'd']);
});

test('a rollback during a reconcile of the source is not undone by that reconcile', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a', 'z'));
  office.run([origin]);
  await expect.poll(office.groups).toEqual(['a', 'z']);
  const then = await revisionOf(office);
  origin.put(groups('b'));
  await expect.poll(office.groups).toEqual(['b']);
  const { promise, resolve } = Promise.withResolvers<void>();
  origin.gate = promise;
  const { reads } = origin;
  origin.put(groups('b', 'c'));
  await expect.poll(() => origin.reads).toBe(reads + 1);
  await goBack(office, then);
  resolve();
  await expect.poll(async () => (await office.statusOf('team')).state).toMatch(/suspended|needs_approval/);
  expect(await office.groups()).toEqual(['a', 'z']);
  // The source declares two groups again, although it last applied only one.
  expect((await office.statusOf('team')).inventory).toEqual({ Group: 2 });
});

test('a source continues normally after a rollback when its documents match the rollback', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  const then = await revisionOf(office);
  origin.put(groups('b'));
  await expect.poll(office.groups).toEqual(['b']);
  await goBack(office, then);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('suspended');
  origin.put(groups('a'));
  await suspendSource(office.engine, office.call, { id: 'team', suspended: false });
  const settings = async () => (await office.engine.snapshots.fresh(office.account)).settingsOf('team');
  await expect.poll(async () => (await settings()).rolledBack).toBeUndefined();
  origin.put(groups('a', 'c'));
  await expect.poll(office.groups).toEqual(['a', 'c']);
});
