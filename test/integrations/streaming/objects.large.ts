import { expect, test } from 'vitest';
import { openBucket } from './bucket-scene.ts';

test('events are gathered into one object, without a write or a lease meanwhile', async () => {
  const { run, engine, group, bucket, rows } = await openBucket();
  run(engine, { gatherMs: 1500 });
  await group('one');
  const kept = () => rows('select xmin::text, look_behind from deliveries where look_at is not null');
  await expect.poll(kept).toEqual([{ xmin: expect.any(String), look_behind: 1000 }]);
  const before = await kept();
  await group('two', 'three');
  expect(await kept()).toEqual(before);
  expect(bucket.attempts).toEqual([]);
  await expect.poll(() => bucket.accepted.map(({ events }) => events.length), { timeout: 5000 }).toEqual([3]);
  // The server records the answer after the upload.
  await expect.poll(kept).toEqual([]);
});

test('a full object is uploaded at once', async () => {
  const { run, engine, group, bucket, rows, addEvents } = await openBucket();
  run(engine, { gatherMs: 3_600_000 });
  await group('one');
  await expect.poll(() => rows('select 1 as n from deliveries where look_at is not null')).toHaveLength(1);
  await addEvents(12_000, 0);
  await expect.poll(() => bucket.accepted.map(({ events }) => events.length)).toEqual([10_000]);
  expect(bucket.faults).toEqual([]);
});

test('an object of large events without an answer is uploaded again unchanged, with each event once', async () => {
  const { run, engine, bucket, addEvents } = await openBucket();
  // Many small events increase the number of events read at once. That number also applies to the large events after
  // them.
  await addEvents(600, 0);
  await addEvents(200, 50_000);
  bucket.next(200, (response) => response.destroy());
  run(engine);
  const ids = () => bucket.accepted.flatMap(({ events }) => events.map(({ id }) => Number(id)));
  await expect.poll(() => ids().length).toBeGreaterThanOrEqual(800);
  const [, lost, again] = bucket.attempts;
  expect(lost?.events.length).toBeGreaterThan(90);
  expect([again?.key, again?.body]).toEqual([lost?.key, lost?.body]);
  expect(new Set(ids()).size).toBe(ids().length);
  expect(bucket.faults).toEqual([]);
});
