import { expect, it } from 'vitest';
import { enrolWhileKilling, readEnrolled } from './enrolling.ts';
import { expireWhileKilling } from './expiring.ts';
import { openReplicas } from './replicas.ts';

it('machines that enrol while one of two servers is killed are enrolled once each, whether or not they got an answer', async () => {
  await using replicas = await openReplicas();
  const { acknowledged, faults } = await enrolWhileKilling(replicas, { machines: 60, clients: 12, killAfter: 20 });
  expect(faults).toEqual([]);
  const { peers } = await readEnrolled(replicas);
  expect([acknowledged.length, [...acknowledged].sort()]).toEqual([60, [...peers].sort()]);
});

it('overdue logins expire once each when the server that expires them is killed and restarted', async () => {
  await expireWhileKilling();
});
