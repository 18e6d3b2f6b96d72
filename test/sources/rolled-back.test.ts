import { expect, test } from 'vitest';
import { applyPlan } from '../../src/features/config/plans/apply-plan.ts';
import { approvePlan } from '../../src/features/config/plans/approvals.ts';
import { planRollback } from '../../src/features/config/plans/rollback.ts';
import { suspendSource } from '../../src/features/sources/sources.ts';
import { groups, newShelf, openOffice } from './office-source.ts';

type Office = Awaited<ReturnType<typeof openOffice>>;

/** Goes back to a revision, as somebody who looked at the plan does. */
async function goBack({ engine, call }: Office, revision: number): Promise<void> {
  const plan = await planRollback(engine, call, { revision, scope: 'sources' });
  await applyPlan(engine, call, plan.id ?? '', { approve: plan.digest });
}

const revisionOf = async ({ engine, account }: Office) => (await engine.snapshots.fresh(account)).revision;

test('E111: a source that is rolled back stops, and E113: resumed with unchanged documents it wants an approval', async () => {
  const office = await openOffice();
  const shelf = newShelf('team', groups('a', 'b'));
  office.run([shelf], { intervalMs: 20 });
  await expect.poll(office.groups).toEqual(['a', 'b']);
  const then = await revisionOf(office);
  shelf.put(groups('a', 'c'));
  await expect.poll(office.groups).toEqual(['a', 'c']);
  await goBack(office, then);
  expect(await office.groups()).toEqual(['a', 'b']);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('suspended');
  const { reads } = shelf;
  await suspendSource(office.engine, office.call, { id: 'team', suspended: false });
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('needs_approval');
  await expect.poll(() => shelf.reads).toBeGreaterThan(reads);
  expect(await office.groups()).toEqual(['a', 'b']);
  const { planId = '', planDigest = '' } = await office.statusOf('team');
  await approvePlan(office.engine, office.call, planId, planDigest);
  await expect.poll(office.groups).toEqual(['a', 'c']);
  shelf.put(groups('a', 'd'));
  await expect.poll(office.groups).toEqual(['a', 'd']);
});

test('a rollback while the source reconciles is not undone by it', async () => {
  const office = await openOffice();
  const shelf = newShelf('team', groups('a', 'z'));
  office.run([shelf]);
  await expect.poll(office.groups).toEqual(['a', 'z']);
  const then = await revisionOf(office);
  shelf.put(groups('b'));
  await expect.poll(office.groups).toEqual(['b']);
  const { promise, resolve } = Promise.withResolvers<void>();
  shelf.gate = promise;
  const { reads } = shelf;
  shelf.put(groups('b', 'c'));
  await expect.poll(() => shelf.reads).toBe(reads + 1);
  await goBack(office, then);
  resolve();
  await expect.poll(async () => (await office.statusOf('team')).state).toMatch(/suspended|needs_approval/);
  expect(await office.groups()).toEqual(['a', 'z']);
  // It states two groups again, whatever it applied last.
  expect((await office.statusOf('team')).inventory).toEqual({ Group: 2 });
});

test('a source whose documents follow the rollback goes on as if nothing had been', async () => {
  const office = await openOffice();
  const shelf = newShelf('team', groups('a'));
  office.run([shelf]);
  await expect.poll(office.groups).toEqual(['a']);
  const then = await revisionOf(office);
  shelf.put(groups('b'));
  await expect.poll(office.groups).toEqual(['b']);
  await goBack(office, then);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('suspended');
  shelf.put(groups('a'));
  await suspendSource(office.engine, office.call, { id: 'team', suspended: false });
  const settings = async () => (await office.engine.snapshots.fresh(office.account)).settingsOf('team');
  await expect.poll(async () => (await settings()).rolledBack).toBeUndefined();
  shelf.put(groups('a', 'c'));
  await expect.poll(office.groups).toEqual(['a', 'c']);
});
