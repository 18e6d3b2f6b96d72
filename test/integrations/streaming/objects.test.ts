import { expect, test } from 'vitest';
import { openBucket } from './bucket-scene.ts';

test('an object without an answer is uploaded again unchanged, even when new events happen meanwhile', async () => {
  const { run, group, bucket } = await openBucket();
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
