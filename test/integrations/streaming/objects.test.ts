import { expect, test } from 'vitest';
import { openPost } from '../scene.ts';
import { credentials, startBucket } from './aws.ts';

/** Opens a post that streams events to a bucket. */
async function openScene() {
  const post = await openPost();
  const bucket = await startBucket('events');
  await post.stream('s3', { ...credentials, bucket_name: 'events', endpoint: bucket.url });
  return {
    ...{ ...post, bucket },
    /** Adds `count` events with a payload of `bytes` bytes each. */
    addEvents: (count: number, bytes: number) =>
      post.database.asOwner(async (query) => {
        await query(
          `with head as (update accounts set audit_sequence = audit_sequence + $2 where account_id = $1 returning audit_sequence - $2 as last)
          insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta)
          select $1, last + n, 1, now(), 'dashboard.login', 'u1', 'Ana', '', 'u1', jsonb_build_object('text', repeat('x', $3))
          from head, generate_series(1, $2::int) n`,
          [post.account, count, bytes],
        );
      }),
  };
}

test('an object without an answer is uploaded again unchanged, even when new events happen meanwhile', async () => {
  const { run, group, bucket } = await openScene();
  await group('one');
  bucket.next((response) => {
    void group('two', 'three').then(() => response.destroy());
  });
  run();
  await expect.poll(() => bucket.accepted.length).toBe(2);
  const [lost, again, next] = [bucket.attempts[0], ...bucket.accepted];
  expect([again?.key, again?.body]).toEqual([lost?.key, lost?.body]);
  expect(next?.events.map(({ meta }) => meta)).toEqual([{ name: 'two' }, { name: 'three' }]);
  expect(bucket.faults).toEqual([]);
});

test('events are gathered into one object, without a write or a lease meanwhile', async () => {
  const { run, engine, group, bucket, rows } = await openScene();
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
  const { run, engine, group, bucket, rows, addEvents } = await openScene();
  run(engine, { gatherMs: 3_600_000 });
  await group('one');
  await expect.poll(() => rows('select 1 as n from deliveries where look_at is not null')).toHaveLength(1);
  await addEvents(12_000, 0);
  await expect.poll(() => bucket.accepted.map(({ events }) => events.length), { timeout: 10_000 }).toEqual([10_000]);
  expect(bucket.faults).toEqual([]);
});

test('an object of large events without an answer is uploaded again unchanged, with each event once', async () => {
  const { run, engine, bucket, addEvents } = await openScene();
  // Many small events increase the number of events read at once. That number also applies to the large events after
  // them.
  await addEvents(600, 0);
  await addEvents(200, 50_000);
  bucket.next(200, (response) => response.destroy());
  run(engine);
  const ids = () => bucket.accepted.flatMap(({ events }) => events.map(({ id }) => Number(id)));
  await expect.poll(() => ids().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(800);
  const [, lost, again] = bucket.attempts;
  expect(lost?.events.length).toBeGreaterThan(90);
  expect([again?.key, again?.body]).toEqual([lost?.key, lost?.body]);
  expect(new Set(ids()).size).toBe(ids().length);
  expect(bucket.faults).toEqual([]);
});
