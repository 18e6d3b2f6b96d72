import { expect, it } from 'vitest';
import { expectNothingLost, openReplicas, writeWhileKilling } from './replicas.ts';

it('two servers lose no acknowledged write in a minute in which one of them is killed and started again ten times', {
  timeout: 600_000,
}, async () => {
  await using replicas = await openReplicas();
  const done = await writeWhileKilling(replicas, { clients: 8, kills: 10, betweenMs: 8000 });
  expect(done.acknowledged.length).toBeGreaterThan(200);
  await expectNothingLost(replicas, done);
});
