import { expect, test } from 'vitest';
import { openReading } from './scene.ts';

const mail = (id: string) => `${id}@corp.example.com`;

test('users and groups of a directory are taken over, page by page', async () => {
  const { directory, counterpart, sync, users, groups, user, logs } = await openReading();
  counterpart.pageSize = 2;
  for (const id of ['ana', 'ben', 'cem', 'dev']) directory.putUser(id);
  directory.putUser('eve', { displayName: 'Eve Moss', mail: 'eve.moss@example.com' });
  directory.putGroup('g1', 'mesh-dev', ['ana', 'ben', 'cem', 'dev', 'eve']);
  directory.putGroup('g2', 'mesh-ops', [{ id: 'g1', type: 'group' }, 'ana', { id: 'd1', type: 'device' }]);
  expect(await sync()).toBe('5 users and 2 groups were read: 7 created, 0 changed, 0 deleted');
  expect(await users()).toEqual([...['ana', 'ben', 'cem', 'dev'].map(mail), 'eve.moss@example.com']);
  expect(await groups()).toEqual({
    'mesh-dev': [...['ana', 'ben', 'cem', 'dev'].map(mail), 'eve.moss@example.com'],
    'mesh-ops': [mail('ana')],
  });
  expect((await user('eve.moss@example.com')).name).toBe('Eve Moss');
  expect(await logs()).toEqual([
    expect.stringMatching(/^info: revision \d+: 7 created, 0 changed, 0 deleted$/),
    'info: Ana asked for a sync',
  ]);
  expect(counterpart.faults).toEqual([]);
  expect(counterpart.requests).toEqual([
    'token',
    ...['groups/delta $select', 'groups/delta $skiptoken', 'groups/delta $skiptoken'],
    ...['users/delta $select', 'users/delta $skiptoken', 'users/delta $skiptoken'],
    "applications(appId='5f1c9a52-7c1e-4c0a-9d3e-0b6f2f6d8a11') $select",
  ]);
});

test('later on what changed is read, and nothing else', async () => {
  const { directory, counterpart, sync, users, groups, user } = await openReading();
  for (const id of ['ana', 'ben', 'cem']) directory.putUser(id);
  directory.putGroup('g1', 'mesh-dev', ['ana', 'ben']);
  await sync();
  counterpart.requests.length = 0;
  directory.putUser('ana', { displayName: 'Ana Lima' });
  directory.putUser('dev');
  directory.removeUser('cem');
  directory.join('g1', 'dev');
  directory.leave('g1', 'ben');
  directory.putGroup('g1', 'mesh-development');
  directory.putGroup('g2', 'mesh-ops', ['ana']);
  expect(await sync()).toMatch(/^3 users and 2 groups were read: 2 created, \d changed, 0 deleted, 1 user kept out$/);
  expect(await users()).toEqual(['ana', 'ben', 'dev'].map(mail));
  expect(await groups()).toEqual({ 'mesh-development': [mail('ana'), mail('dev')], 'mesh-ops': [mail('ana')] });
  expect((await user(mail('ana'))).name).toBe('Ana Lima');
  expect(counterpart.faults).toEqual([]);
  // Of a group that was not known, it is asked who is in it: it may have had another name.
  const requests = ['token', 'groups/delta $deltatoken', 'groups/g2/members $select,$top', 'users/delta $deltatoken'];
  expect(counterpart.requests).toEqual(requests);
});
