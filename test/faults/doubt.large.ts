import { expect, it } from 'vitest';
import { writeInDoubt } from './in-doubt-writes.ts';

it('E96 writes of every shape are answered as committed while connections to Postgres are cut at random bytes', async () => {
  const shapes = [
    'replace',
    'delete',
    'policy',
    'key',
    'token',
    'plan',
    'apply',
    'push',
    'enrolment',
    'proxy-token',
    'invite',
    'person',
    'source',
    'tenant',
    'temporary-access',
    'apply-nothing',
  ];
  const { done, unknown, wrong } = await writeInDoubt({ doubts: 60, shapes }, Math.random);
  expect({ unknown, wrong }).toEqual({ unknown: 0, wrong: [] });
  expect(shapes.filter((shape) => (done[shape] ?? 0) === 0)).toEqual([]);
});
