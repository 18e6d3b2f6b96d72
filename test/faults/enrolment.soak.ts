import { expect, it } from 'vitest';
import { makeMachineKeys } from '../../src/features/peers/enrolment/client.ts';
import { enrolAt, enrolWhileKilling, makeKey, readEnrolled } from './enrolling.ts';
import { openReplicas } from './replicas.ts';

it('of 1,000 machines that enrol at two servers with a key for 100, 100 are enrolled and 900 refused with the reason', {
  timeout: 300_000,
}, async () => {
  await using replicas = await openReplicas();
  const servers = await Promise.all([replicas.start(), replicas.start()]);
  const { key } = await makeKey(servers[0], 100);
  const machines = Array.from({ length: 1000 }, () => makeMachineKeys());
  const answers = await Promise.all(machines.map((keys, at) => enrolAt(servers[at % 2 === 0 ? 0 : 1], keys, key)));
  const refusals = answers.filter(({ status }) => status !== 200);
  expect(new Set(refusals.map(({ status, body }) => `${status} ${body.message}`))).toEqual(
    new Set(['403 the setup key has reached its usage limit; ask an administrator for another one']),
  );
  const { peers, used } = await readEnrolled(replicas);
  expect([refusals.length, peers.length, used]).toEqual([900, 100, 100]);
  const reported = answers.flatMap(({ status, body }) => (status === 200 ? [body.peer.id] : []));
  expect(reported.sort()).toEqual([...peers].sort());
});

it('1,000 machines are enrolled once each when one of two servers is killed after 100, 300 or 900 of them', {
  timeout: 600_000,
}, async () => {
  for (const killAfter of [100, 300, 900]) {
    await using replicas = await openReplicas();
    const { acknowledged, faults } = await enrolWhileKilling(replicas, { machines: 1000, clients: 64, killAfter });
    expect(faults).toEqual([]);
    const { peers } = await readEnrolled(replicas);
    expect([...acknowledged].sort()).toEqual([...peers].sort());
  }
});
