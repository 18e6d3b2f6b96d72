import { expect, it, onTestFinished } from 'vitest';
import { takeLease } from '../../src/db/leases/leases.ts';
import { createReader } from '../../src/documents/reader.ts';
import { processClock } from '../../src/features/sources/loop/loop.ts';
import { createReconciler } from '../../src/features/sources/loop/reconcile.ts';
import { createStatusRecord } from '../../src/features/sources/loop/record.ts';
import { recordSource, suspendSource } from '../../src/features/sources/sources.ts';
import type { SourceEvent } from '../../src/model/sources/conditions.ts';
import { initialStatus } from '../../src/model/sources/status.ts';
import { groups, newMemoryOrigin, openSampleAccount } from './office-source.ts';

const refused: SourceEvent = { what: 'refused', state: 'invalid', digest: 'd', at: 3, message: 'broken documents' };

/** Opens the status record of a source whose lease this server holds. */
async function openRecord() {
  const office = await openSampleAccount();
  const { engine, account, call } = office;
  await recordSource(engine, call, { id: 'team', type: 'memory', spec: {} });
  const request = { account, name: 'source/team', seconds: 30 };
  const lease = await takeLease(office.database, { ...request, owner: 'one' });
  if (lease === undefined) throw new Error('the lease was free');
  const options = {
    ...{ engine, account, name: 'team', lease, status: initialStatus, slowMs: 1000 },
    generation: () => 1,
    nextRunAt: () => undefined,
  };
  const record = createStatusRecord(options);
  const reported = async () =>
    (await office.rows(`select activity_code from audit_events where activity_code like 'config.%' order by id`)).map(
      (row) => row['activity_code'],
    );
  return { office, record, reported, request, options };
}

it('a status that could not be written is written with its events when the same status is noted again', async () => {
  const { office, record, reported } = await openRecord();
  await office.rows('alter table audit_events add constraint away check (false) not valid');
  await expect(record.note(refused)).rejects.toThrow('away');
  expect((await office.statusOf('team')).state).toBeUndefined();
  await office.rows('alter table audit_events drop constraint away');
  await record.note(refused);
  await record.note(refused);
  expect((await office.statusOf('team')).state).toBe('invalid');
  expect(await reported()).toEqual(['config.failed', 'config.source.stalled']);
});

it('E98: a server with an expired lease neither records the status of its source nor sends events', async () => {
  const { office, record, reported, request } = await openRecord();
  await office.rows("update leases set until = now() - interval '1 second' returning name");
  await takeLease(office.database, { ...request, owner: 'two' });
  await record.note(refused);
  expect([(await office.statusOf('team')).state, await reported()]).toEqual([undefined, []]);
});

it('E135: a reconcile that begins while its source is suspended changes nothing, even if the loop was not notified', async () => {
  const { office, options } = await openRecord();
  const reader = createReader();
  onTestFinished(() => reader.close());
  const origin = newMemoryOrigin('team', groups('a')).open();
  const more = { reader, origin, version: 'test', clock: processClock, report: () => undefined };
  const reconciler = createReconciler({ ...options, ...more });
  await suspendSource(office.engine, office.call, { id: 'team', suspended: true });
  expect(await reconciler.reconcile(() => true)).toEqual({ result: 'same' });
  expect(await office.groups()).toEqual([]);
  await suspendSource(office.engine, office.call, { id: 'team', suspended: false });
  expect(await reconciler.reconcile(() => true)).toMatchObject({ result: 'done', wrote: true });
  expect(await office.groups()).toEqual(['a']);
});
