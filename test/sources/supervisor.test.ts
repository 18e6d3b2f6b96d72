import { expect, test } from 'vitest';
import { approvePlan } from '../../src/features/config/plans/approvals.ts';
import { requestSourceRun, sendSourceHint } from '../../src/features/sources/scheduled-sources.ts';
import { detachSource } from '../../src/features/sources/source-admin.ts';
import { suspendSource } from '../../src/features/sources/sources.ts';
import { createObject } from '../../src/objects/objects.ts';
import { upTo } from '../commit/office.ts';
import { groups, newMemoryOrigin, openSampleAccount } from './office-source.ts';

test('E136: one of two servers reconciles a source, and the other takes over at once when that one stops', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  const first = office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  const second = office.run([origin], { engine: await office.another() });
  origin.put(groups('a', 'b'));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  expect(second.reports).toEqual([]);
  await first.stop();
  origin.put(groups('a', 'b', 'c'));
  await expect.poll(office.groups).toEqual(['a', 'b', 'c']);
  // The report follows the commit.
  await expect
    .poll(() => second.reports.map(({ message }) => message))
    .toContainEqual(expect.stringContaining('1 created'));
});

test('E136: an unresponsive server is replaced when its lease expires, and changes nothing when it resumes', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  const asleep = office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  // The first server reads, sleeps past the end of its lease, and wakes when another server holds the lease.
  const { promise, resolve } = Promise.withResolvers<void>();
  origin.gate = promise;
  origin.put(groups('a', 'stale'));
  await expect.poll(() => origin.reads).toBe(2);
  await office.rows("update leases set until = now() - interval '1 second' returning name");
  const other = newMemoryOrigin('team', groups('a', 'fresh'));
  office.run([other], { engine: await office.another() });
  await expect.poll(office.groups).toEqual(['a', 'fresh']);
  resolve();
  await expect
    .poll(() => asleep.reports.map(({ message }) => message))
    .toContainEqual(expect.stringContaining('the lease source/team is no longer held'));
  expect(await office.groups()).toEqual(['a', 'fresh']);
});

test('E133: refused content is not tried again at each interval, only when it or the account changes', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', 'apiVersion: heddle.dev/v1\nkind: Nonsense');
  const runner = office.run([origin], { intervalMs: 5 });
  const refusals = () => runner.reports.filter(({ level }) => level === 'error').length;
  await expect.poll(refusals).toBe(1);
  const { reads } = origin;
  await expect.poll(() => origin.reads).toBeGreaterThan(reads + 10);
  expect(refusals()).toBe(1);
  expect(await office.statusOf('team')).toMatchObject({ state: 'invalid', history: [{ result: 'invalid' }] });
  await createObject(office.engine, office.call, office.engine.registry.get('Group'), { name: 'g' }, { strict: false });
  await expect.poll(refusals).toBe(2);
  origin.put(groups('a'));
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
});

test('an unchanged source is read repeatedly without a write', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin], { intervalMs: 5 });
  await expect.poll(office.groups).toEqual(['a']);
  const tables = () => office.rows('select xmin, s.* from sources s union all select xmin, s.* from sources s');
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  const { reads } = origin;
  const before = await tables();
  await expect.poll(() => origin.reads).toBeGreaterThan(reads + 20);
  expect(await tables()).toEqual(before);
});

test('a server that starts records nothing for documents that are applied, however long the comparison takes', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  let recorded = 0;
  const slow = {
    slowMs: 0,
    noted() {
      recorded += 1;
    },
  };
  const first = office.run([origin], slow);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  await first.stop();
  // One record that the reconcile was running, and one that it ended.
  expect(recorded).toBe(2);
  const { reads } = origin;
  const second = office.run([origin], slow);
  await expect.poll(() => origin.reads).toBe(reads + 1);
  await second.stop();
  expect(recorded).toBe(2);
});

test('E134: two writers that undo each other are stopped and named, and run again on request', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('even'));
  // Its deletes need no approval, however many there are within an hour.
  office.run([origin], { burst: 6, spec: { limits: { deletes: 1000 } } });
  let round = 0;
  // A generator answers every revision of the source with different content, and a script writes between them.
  const stop = new AbortController();
  office.engine.listeners.add(({ actor }) => {
    if (stop.signal.aborted || actor.id !== 'team') return;
    round += 1;
    const body = { name: `by script ${round}` };
    void createObject(office.engine, office.call, office.engine.registry.get('Group'), body, { strict: false });
    origin.put(groups(round % 2 === 0 ? 'even' : 'odd', 'kept', 'also-kept', 'and-this', 'and-that', 'and-more'));
  });
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('stalled');
  const status = await office.statusOf('team');
  expect(status.conditions?.find(({ type }) => type === 'Stalled')).toMatchObject({
    status: 'True',
    reason: 'HotLoop',
  });
  expect(status.message).toMatch(
    /HotLoop.*were caused by changes of its content.*changed by Ana \(\d+ revisions lately\)/,
  );
  const { reads } = origin;
  origin.put(groups('more'));
  stop.abort();
  expect(origin.reads).toBe(reads);
  await requestSourceRun(office.engine, office.call, 'team');
  await expect.poll(async () => (await office.statusOf('team')).state).not.toBe('stalled');
});

test('E134: a stopped source stays stopped if a probe finds a change, and continues if it finds none', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  const breaker: boolean[] = [];
  office.engine.observer.on((seen) => (seen.what === 'breaker' ? breaker.push(seen.open) : undefined));
  const { promise, resolve } = Promise.withResolvers<void>();
  const runner = office.run([origin], { burst: 1, probeMs: 50 });
  const stops = () => runner.reports.filter(({ message }) => message.includes('reconciles too often'));
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  // Reconciles of content that was there before use up the token bucket.
  for (const names of [['a', 'b'], ['a']]) {
    origin.put(groups(...names));
    await expect.poll(office.groups).toEqual(names);
  }
  office.engine.listeners.add(({ after }) => {
    // The probe that follows the writing probe waits at the gate.
    if (after.findByKey('Group', 'b') !== undefined) origin.gate = promise;
  });
  origin.put(groups('a', 'b'));
  await expect.poll(() => stops().length).toBe(2);
  expect([await office.groups(), (await office.statusOf('team')).state]).toEqual([['a', 'b'], 'stalled']);
  resolve();
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  expect(breaker).toEqual([false, false, false, true, true, true, false]);
  const reported = await office.rows(
    "select activity_code from audit_events where activity_code like 'config.source.%'",
  );
  expect(reported).toHaveLength(2);
});

test('E134: a stopped source that returns to its applied content continues with the next probe', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin], { burst: 1, probeMs: 200 });
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  for (const names of [['a', 'b'], ['a']]) {
    origin.put(groups(...names));
    await expect.poll(office.groups).toEqual(names);
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  origin.gate = promise;
  origin.put(groups('a', 'b'));
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('stalled');
  origin.put(groups('a'));
  resolve();
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  expect(await office.groups()).toEqual(['a']);
});

test('E135: a reconcile that runs when its source is suspended completes, and the next one waits for a resume', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  const { promise, resolve } = Promise.withResolvers<void>();
  origin.gate = promise;
  origin.put(groups('a', 'b'));
  await expect.poll(() => origin.reads).toBe(2);
  await suspendSource(office.engine, office.call, { id: 'team', suspended: true });
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('suspended');
  resolve();
  await expect.poll(office.groups).toEqual(['a', 'b']);
  origin.put(groups('a', 'b', 'c'));
  await sendSourceHint(office.engine, office.account, 'team');
  await requestSourceRun(office.engine, office.call, 'team');
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('suspended');
  expect(await office.groups()).toEqual(['a', 'b']);
  await suspendSource(office.engine, office.call, { id: 'team', suspended: false });
  await expect.poll(office.groups).toEqual(['a', 'b', 'c']);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
});

test('a reconcile request is handled once, whichever server got it, and plans unchanged content again', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  const other = await office.another();
  const { reads } = origin;
  await requestSourceRun(other, office.call, 'team');
  const waiting = () => office.rows('select id from sources where handled_at is null or handled_at < requested_at');
  await expect.poll(waiting).toEqual([]);
  expect(origin.reads).toBe(reads + 1);
  await expect(requestSourceRun(other, office.call, 'nobody')).rejects.toThrow('source nobody not found');
});

test('a request after a detach is handled by the next holder of the lease, not by the one that lost it', async () => {
  const office = await openSampleAccount();
  office.run([newMemoryOrigin('team', groups('a'))]);
  await expect.poll(office.groups).toEqual(['a']);
  const { engine, call } = office;
  const stated = async () =>
    (await engine.snapshots.fresh(office.account)).declaredBy('team').map(({ key, name }) => key ?? name);
  await detachSource(engine, call, 'team');
  expect(await stated()).toEqual([]);
  await suspendSource(engine, call, { id: 'team', suspended: false });
  const requestedAt = await requestSourceRun(engine, call, 'team');
  await expect.poll(async () => (await office.statusOf('team')).lastHandledReconcileAt).toBe(requestedAt);
  expect(await stated()).toEqual(['a']);
});

test('a hint makes the server that runs the source read it, and 100 hints cause at most 10 reads', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  origin.put(groups('a', 'b'), 'silently');
  const { reads } = origin;
  for (const _ of upTo(100)) await sendSourceHint(office.engine, office.account, 'team');
  await expect.poll(office.groups).toEqual(['a', 'b']);
  expect(origin.reads).toBeLessThanOrEqual(reads + 10);
});

test('a source that cannot be read is retried until it can, and deletes nothing meanwhile', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  const runner = office.run([origin]);
  await expect.poll(office.groups).toEqual(['a']);
  origin.close('the disk is away.');
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('unavailable');
  const { reads } = origin;
  await expect.poll(() => origin.reads).toBeGreaterThan(reads + 3);
  expect(runner.reports.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(await office.groups()).toEqual(['a']);
  origin.put(groups('a'), 'silently');
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
});

test('a running source stalls when its account is deleted, and creates nothing again', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  const runner = office.run([origin], { intervalMs: 20 });
  await expect.poll(office.groups).toEqual(['a']);
  const tables = ['object_refs', 'object_keys', 'declared', 'objects', 'directory', 'leases', 'sources', 'accounts'];
  await office.database.asOwner(tables.map((table) => `delete from ${table}`));
  await expect
    .poll(() => runner.reports.map(({ message }) => message))
    .toContainEqual(expect.stringMatching(/source team is stalled: its account \w+ does not exist any more/));
  origin.put(groups('a', 'b'));
  await runner.stop();
  for (const table of tables) expect(await office.rows(`select * from ${table}`)).toEqual([]);
});

test('E69: before a source deletes objects, the other sources of the server record their claims', async () => {
  const office = await openSampleAccount();
  const [from, to] = [newMemoryOrigin('from', groups('a', 'moved')), newMemoryOrigin('to', groups('b'))];
  office.run([from, to]);
  await expect.poll(office.groups).toEqual(['a', 'b', 'moved']);
  to.put(groups('b', 'moved', 'new'), 'silently');
  from.put(groups('a'));
  const expected = () => office.rows("select coalesce(wanted -> 'keys', '[]') as keys from sources where id = 'to'");
  await expect.poll(expected).toEqual([{ keys: ['Group/moved', 'Group/new'] }]);
  await requestSourceRun(office.engine, office.call, 'to');
  await expect.poll(expected).toEqual([{ keys: [] }]);
  await expect.poll(office.groups).toEqual(['a', 'b', 'moved', 'new']);
});

test('a plan that a guard stopped is stored, and applied only when exactly that plan is approved', async () => {
  const office = await openSampleAccount();
  const keys = upTo(12).map((at) => `g${at}`);
  const origin = newMemoryOrigin('team', groups(...keys));
  const runner = office.run([origin], { intervalMs: 50 });
  await expect.poll(office.groups).toHaveLength(12);
  origin.put(groups('g1'));
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('needs_approval');
  const { planId = '', planDigest = '', message } = await office.statusOf('team');
  expect(message).toContain(`approve exactly this plan with \`heddle approve ${planId}\`; its digest is ${planDigest}`);
  origin.put(groups('g1', 'g2'));
  await expect.poll(async () => (await office.statusOf('team')).planDigest).not.toBe(planDigest);
  await approvePlan(office.engine, office.call, planId, planDigest);
  const { reads } = origin;
  await expect.poll(() => origin.reads).toBeGreaterThan(reads + 3);
  expect(await office.groups()).toHaveLength(12);
  origin.put(groups('g1'));
  await expect.poll(office.groups).toEqual(['g1']);
  origin.put(groups(...keys));
  await expect.poll(office.groups).toHaveLength(12);
  origin.put(groups('g3'));
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('needs_approval');
  const other = await office.statusOf('team');
  const elsewhere = { ...(await office.another()), planEnvironment: office.engine.planEnvironment };
  await approvePlan(elsewhere, office.call, other.planId ?? '', other.planDigest ?? '');
  await expect.poll(office.groups).toEqual(['g3']);
  expect(runner.reports.filter(({ level }) => level === 'error')).toEqual([]);
});

test('with `approval: always` each change of a source needs an approval, and unchanged documents need none', async () => {
  const office = await openSampleAccount();
  const origin = newMemoryOrigin('team', groups('a'));
  office.run([origin], { spec: { approval: 'always' } });
  const waits = async () => {
    await expect.poll(async () => (await office.statusOf('team')).state).toBe('needs_approval');
    const { message, planId = '', planDigest = '' } = await office.statusOf('team');
    expect(message).toContain('every change of team needs an approval');
    await approvePlan(office.engine, office.call, planId, planDigest);
  };
  await waits();
  await expect.poll(office.groups).toEqual(['a']);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  origin.put(groups('a', 'b'));
  await waits();
  await expect.poll(office.groups).toEqual(['a', 'b']);
  await expect.poll(async () => (await office.statusOf('team')).state).toBe('applied');
  origin.put(`# The same again.\n${groups('a', 'b')}`);
  await expect.poll(async () => (await office.statusOf('team')).observedDigest).toContain('The same again');
  expect(await office.statusOf('team')).toMatchObject({ state: 'applied' });
});
