import { expect, it } from 'vitest';
import { expectNothingLost, openReplicas, writeWhileKilling } from './replicas.ts';
import { killWhoApplies } from './takeover.ts';

it('two servers lose no acknowledged write while one of them is killed and restarted', {
  timeout: 600_000,
}, async () => {
  await using replicas = await openReplicas();
  const done = await writeWhileKilling(replicas, { clients: 4, kills: 2, betweenMs: 700 });
  expect(done.acknowledged.length).toBeGreaterThan(10);
  await expectNothingLost(replicas, done);
});

it('E136 after kill -9 of the server that applies 1,000 objects, another one applies them as one revision', {
  timeout: 600_000,
}, async () => {
  await killWhoApplies(2);
});
