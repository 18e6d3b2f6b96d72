import pg from 'pg';
import { expect, test } from 'vitest';
import { dropOrphanedSyncs } from '../../../src/db/directory-sync/pending.ts';
import { deleteRemoved } from '../../../src/features/integrations/provisioning/delete-removed.ts';
import { present } from '../../setup/present.ts';
import { integrationSpec, openReading } from './scene.ts';

const day = 24 * 60 * 60 * 1000;

const mail = (id: string) => `${id}@corp.example.com`;

test('a sync imports users and groups of a directory page by page', async () => {
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

test('a later sync reads only what changed', async () => {
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
  // The sync reads the members of a group that is not stored yet separately: the group need not be new, it may have had
  // another name.
  const requests = ['token', 'groups/delta $deltatoken', 'groups/g2/members $select,$top', 'users/delta $deltatoken'];
  expect(counterpart.requests).toEqual(requests);
});

test('a sync without changes writes no revision and no log entry', async () => {
  const { directory, counterpart, sync, state, logs, reading, due, rows, status } = await openReading();
  directory.putUser('ana');
  directory.putGroup('g1', 'mesh-dev', ['ana']);
  await sync();
  const { revision } = await state();
  const before = await logs();
  counterpart.requests.length = 0;
  const ended = async () => (await status())?.['ended_at'];
  const last = await ended();
  reading.run();
  await due();
  await expect.poll(ended).not.toEqual(last);
  expect((await state()).revision).toBe(revision);
  expect(await logs()).toEqual(before);
  expect(counterpart.requests).toEqual(['token', 'groups/delta $deltatoken', 'users/delta $deltatoken']);
  const [{ synced } = {}] = await rows('select last_synced_at > $$2026-01-01$$ as synced from integration_syncs');
  expect(synced).toBe(true);
});

test('prefixes select the groups to import, and the groups from which users are imported', async () => {
  const scene = await openReading({ group_prefixes: ['mesh-'], user_group_prefixes: ['staff'] });
  const { directory, counterpart, sync, users, groups, change } = scene;
  for (const id of ['ana', 'ben', 'cem', 'dev']) directory.putUser(id);
  directory.putGroup('g1', 'mesh-dev', ['ana', 'dev']);
  directory.putGroup('g2', 'staff', ['ana', 'ben']);
  directory.putGroup('g3', 'others', ['cem', 'dev']);
  await sync();
  expect(await users()).toEqual(['ana', 'ben'].map(mail));
  expect(await groups()).toEqual({ 'mesh-dev': [mail('ana')] });
  // The sync requests a user who comes into scope separately, because the user did not change and is therefore in no
  // delta.
  directory.join('g2', 'dev', 'nobody');
  directory.leave('g2', 'ben');
  directory.putGroup('g3', 'mesh-others');
  await sync();
  expect(await users()).toEqual(['ana', 'dev'].map(mail));
  expect(await groups()).toEqual({ 'mesh-dev': [mail('ana'), mail('dev')], 'mesh-others': [mail('dev')] });
  directory.putGroup('g1', 'dev');
  await sync();
  expect(await groups()).toEqual({ 'mesh-others': [mail('dev')] });
  await change({ ...integrationSpec(counterpart), group_prefixes: [], user_group_prefixes: [] });
  await sync();
  expect(await users()).toEqual(['ana', 'ben', 'cem', 'dev'].map(mail));
  expect(Object.keys(await groups()).sort()).toEqual(['dev', 'mesh-others', 'staff']);
  expect(counterpart.faults).toEqual([]);
});

test('users disabled or deleted in the directory are blocked, and unblocked when enabled or restored', async () => {
  const { directory, sync, users, user, groups } = await openReading();
  for (const id of ['ana', 'ben', 'cem']) directory.putUser(id);
  directory.putGroup('g1', 'mesh-dev', ['ana', 'ben', 'cem']);
  await sync();
  const before = await user(mail('ana'));
  directory.putUser('ana', { accountEnabled: false });
  directory.removeUser('ben');
  expect(await sync()).toBe('2 users and 1 group were read: 0 created, 2 changed, 0 deleted, 2 users kept out');
  expect(await users()).toEqual([mail('cem')]);
  expect((await user(mail('ana'))).derived.provided).toMatchObject({ inactive_since: expect.any(String) });
  expect((await user(mail('ben'))).derived.provided).toMatchObject({ removed_since: expect.any(String) });
  // A disabled user stays in the group; a deleted user does not.
  expect(await groups()).toEqual({ 'mesh-dev': [mail('ana'), mail('cem')] });
  directory.putUser('ana', { accountEnabled: true });
  directory.putUser('ben', { accountEnabled: true });
  await sync();
  expect(await users()).toEqual(['ana', 'ben', 'cem'].map(mail));
  expect((await user(mail('ana'))).id).toBe(before.id);
});

test('a dry run reports what a sync would do, and changes nothing', async () => {
  const { directory, sync, preview, state, users, logs } = await openReading();
  directory.putUser('ana');
  directory.putGroup('g1', 'mesh-dev', ['ana']);
  const { revision } = await state();
  const seen = await preview();
  expect(seen.result).toBe('1 user and 1 group were read: 2 created, 0 changed, 0 deleted');
  expect(seen.plan?.counts).toMatchObject({ create: 2, update: 0, delete: 0 });
  expect(seen.plan?.changes.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(['Group mesh-dev', 'User ana']);
  expect((await state()).revision).toBe(revision);
  expect(await logs()).toEqual([`info: Ana asked what a sync would do: ${seen.result}`]);
  // The next sync applies the changes that the dry run read, although nothing has changed since.
  await sync();
  expect(await users()).toEqual([mail('ana')]);
});

test('a sync waits for an approval when the directory returns no users', async () => {
  const { directory, counterpart, reading, sync, preview, users, logs, approve, rows, state, due } =
    await openReading();
  for (const id of ['ana', 'ben', 'cem']) directory.putUser(id);
  await sync();
  const { revision } = await state();
  directory.clear();
  counterpart.expireLinks();
  const why = 'keeps out 3 of 3 users: the identity provider no longer lists any';
  expect((await preview()).result).toBe(
    `0 users and 0 groups were read: 0 created, 3 changed, 0 deleted, 3 users kept out; that would wait for an approval, because it ${why}`,
  );
  const result = await sync();
  const [, plan = ''] =
    /^0 users and 0 groups were read, and nothing was changed: the plan (\w+) waits for an approval, because it keeps/.exec(
      result,
    ) ?? [];
  expect(plan, result).not.toBe('');
  expect(await users()).toHaveLength(3);
  expect((await logs())[0]).toBe(
    `error: nothing was changed, because the change ${why}. Look at the plan ${plan}, and approve it with \`heddle approve ${plan}\``,
  );
  // The failure is logged once, however often a sync finds it.
  reading.run();
  await due();
  await expect
    .poll(async () => (await rows("select next_at > now() + interval '1 minute' as is_over from directory_syncs"))[0])
    .toEqual({
      is_over: true,
    });
  expect(await logs()).toHaveLength(5);
  expect(await rows("select id from plans where state = 'needs_approval'")).toEqual([{ id: plan }]);
  expect((await state()).revision).toBe(revision);
  const [{ digest } = {}] = await rows('select digest from plans');
  await approve({ id: plan, digest: String(digest) });
  await expect.poll(users).toEqual([]);
  expect(await rows(`select state from plans where id = '${plan}'`)).toEqual([{ state: 'applied' }]);
});

test('a sync needs no approval any more when the directory returns its users again', async () => {
  const { directory, counterpart, sync, users } = await openReading();
  for (const id of ['ana', 'ben', 'cem']) directory.putUser(id);
  await sync();
  directory.clear();
  counterpart.expireLinks();
  await sync();
  for (const id of ['ana', 'ben', 'cem']) directory.putUser(id);
  expect(await sync()).toBe('3 users and 0 groups were read: nothing changed');
  expect(await users()).toHaveLength(3);
});

test('users deleted in the directory are kept for 30 days, and deleted after that', async () => {
  const { directory, engine, account, clock, sync, state } = await openReading();
  for (const id of ['ana', 'ben']) directory.putUser(id);
  await sync();
  directory.removeUser('ana');
  await sync();
  clock.offsetMs = 29 * day;
  await deleteRemoved(engine, account);
  expect((await state()).findByUnique('User', 'email', mail('ana'))).toBeDefined();
  clock.offsetMs = 31 * day;
  await deleteRemoved(engine, account);
  expect((await state()).findByUnique('User', 'email', mail('ana'))).toBeUndefined();
  expect((await state()).findByUnique('User', 'email', mail('ben'))).toBeDefined();
});

test.each([
  ['everybody', {}],
  ['the people of a group', { user_group_prefixes: ['mesh-'] }],
])('a user deleted for good is not kept for 30 days, even if removed before, in a sync of %s', async (_, settings) => {
  const { directory, engine, account, sync, state, users, counterpart } = await openReading(settings);
  for (const id of ['ana', 'ben', 'cem', 'dev']) directory.putUser(id);
  directory.putGroup('g1', 'mesh-dev', ['ana', 'ben', 'cem', 'dev']);
  await sync();
  const known = async () =>
    (await state())
      .ofKind('User')
      .map(({ spec }) => spec.email)
      .filter((email) => ['ana', 'ben', 'cem', 'dev'].map(mail).includes(String(email)))
      .sort();
  for (const id of ['ana', 'ben']) directory.removeUser(id);
  for (const id of ['ana', 'ben', 'cem']) directory.leave('g1', id);
  directory.removeUser('cem', 'deleted');
  expect(await sync()).toContain(', 3 users kept out');
  expect(await users()).toEqual([mail('dev')]);
  expect(await known()).toHaveLength(4);
  await deleteRemoved(engine, account);
  expect(await known()).toEqual(['ana', 'ben', 'dev'].map(mail));
  directory.removeUser('ana', 'deleted');
  await sync();
  await deleteRemoved(engine, account);
  expect(await known()).toEqual(['ben', 'dev'].map(mail));
  expect(counterpart.faults).toEqual([]);
});

test('a user who returns under another id is kept when the old id is deleted for good', async () => {
  const { directory, engine, account, sync, users, user } = await openReading();
  for (const id of ['ana', 'ben']) directory.putUser(id);
  await sync();
  const { id } = await user(mail('ana'));
  directory.removeUser('ana');
  await sync();
  directory.removeUser('ana', 'deleted');
  directory.putUser('ana-2', { userPrincipalName: mail('ana'), mail: mail('ana') });
  await sync();
  await deleteRemoved(engine, account);
  expect(await users()).toEqual(['ana', 'ben'].map(mail));
  expect((await user(mail('ana'))).id).toBe(id);
});

test('a user deleted for good is kept until the required approval to block users is given', async () => {
  const { directory, engine, account, sync, users } = await openReading();
  const ids = Array.from({ length: 8 }, (_, at) => `u${at}`);
  for (const id of ids) directory.putUser(id);
  await sync();
  for (const id of ids.slice(0, 7)) directory.removeUser(id, 'deleted');
  expect(await sync()).toMatch(/waits for an approval, because it keeps out 7 of 8 users/);
  await deleteRemoved(engine, account);
  expect(await users()).toHaveLength(8);
});

test('a duplicate and an invalid e-mail address are reported in the log', async () => {
  const { directory, sync, users, logs } = await openReading();
  directory.putUser('ana', { mail: 'team@example.com' });
  directory.putUser('ben', { mail: 'team@example.com' });
  directory.putUser('cem', { mail: 'no address' });
  directory.putGroup('g1', 'mesh-dev', ['ana', 'cem']);
  expect(await sync()).toMatch(/; 3 could not be imported unchanged$/);
  expect(await users()).toEqual(['team@example.com']);
  expect((await logs()).filter((line) => line.startsWith('warning'))).toEqual(
    expect.arrayContaining([
      `warning: ${mail('ben')} is already a user, linked to another user of this identity provider`,
      `warning: the address of ${mail('cem')} cannot be imported: \`no address\` is not an e-mail address; write one such as ana@example.com`,
      'warning: the group g1 names a member cem, which is not an imported user',
    ]),
  );
});

test('the stored data of a sync is deleted with its integration', async () => {
  const { directory, remove, reading, rows } = await openReading();
  directory.putUser('ana');
  directory.putGroup('g1', 'mesh-dev', ['ana']);
  const left = async () => {
    const tables = ['syncs', 'users', 'groups', 'members'].map((name) => `select 1 from directory_${name}`);
    return (await rows(tables.join(' union all '))).length;
  };
  reading.run();
  await expect.poll(left).toBe(4);
  await remove();
  await expect.poll(left).toBe(0);
});

test('data that a sync writes while its integration is deleted is deleted too', async () => {
  const { directory, sync, remove, rows, database, made } = await openReading();
  directory.putUser('ana');
  await sync();
  const writer = new pg.Client({ connectionString: present(made.url) });
  await writer.connect();
  await writer.query('begin');
  await writer.query('update directory_syncs set linked_at = now()');
  await writer.query("insert into directory_users select account_id, integration_id, 'late', 0 from directory_syncs");
  await remove();
  const dropped = dropOrphanedSyncs(database);
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(() => rows(waiting)).toHaveLength(1);
  await writer.query('commit');
  await writer.end();
  await dropped;
  expect(await rows('select id from directory_users')).toEqual([]);
});
