import { expect, it } from 'vitest';
import { expectNothingLost, openReplicas, writeWhileKilling } from './replicas.ts';
import { killWhoApplies } from './takeover.ts';

it('two servers lose no acknowledged write in a minute in which one of them is killed and restarted ten times', {
  timeout: 600_000,
}, async () => {
  await using replicas = await openReplicas();
  const done = await writeWhileKilling(replicas, { clients: 8, kills: 10, betweenMs: 8000 });
  expect(done.acknowledged.length).toBeGreaterThan(200);
  await expectNothingLost(replicas, done);
});

it('E136 after kill -9 at 100 moments of an apply of 1,000 objects, another server applies them as one revision', {
  timeout: 3_600_000,
}, async () => {
  await killWhoApplies(100);
});
