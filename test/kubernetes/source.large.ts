import { expect, test } from 'vitest';
import { listOf, statusOf } from './conversation.ts';
import {
  cluster,
  definition,
  definitionOf,
  group,
  groups,
  listed,
  namespace,
  namespaces,
  running,
} from './scripted-cluster.ts';
import { ownSources, source, sources, withSources } from './source-resources.ts';

const changed = (name: string, spec: object) => ({ type: 'MODIFIED', object: group(name, 'team-a', spec) });
const deleted = (name: string) => ({ type: 'DELETED', object: group(name) });
const added = (name: string) => ({ type: 'ADDED', object: group(name) });

test('only the resources of a namespace that a rule covers become objects', async () => {
  const { office, server } = await running(cluster(['a', 'b']));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.say(groups, added('c'), deleted('a'));
  await expect.poll(office.groups).toEqual(['b', 'c']);
});

test.each([
  ['is being deleted', definitionOf('first', '2026-01-01T00:00:00Z'), /Group is being deleted/],
  ['is gone', { status: 404, body: statusOf(404, 'NotFound', 'not found') }, /Group does not exist/],
  ['was made again', definitionOf('second'), /Group was deleted and created again/],
  [
    'cannot be read',
    { status: 403, body: statusOf(403, 'Forbidden', 'no') },
    /cannot be determined whether the missing resources were deleted: the API server answered 403: no/,
  ],
] as const)('E140: no object is deleted when resources vanish and their CRD %s', async (_, answer, reason) => {
  const { office, server, state, message } = await running(cluster(['a', 'b']));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.turnTo(cluster([], { [definition]: { lists: [answer] } }));
  server.say(groups, deleted('a'), deleted('b'));
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(reason);
  expect(await office.groups()).toEqual(['a', 'b']);
});

test('resources stated again after their CRD was created again are followed as before', async () => {
  const { office, server, state } = await running(cluster(['a', 'b']));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.turnTo(cluster([], { [definition]: { lists: [definitionOf('second')] } }));
  server.say(groups, deleted('a'), deleted('b'));
  await expect.poll(state).toBe('unavailable');
  server.say(groups, added('a'), added('b'));
  await expect.poll(state).toBe('applied');
  server.say(groups, deleted('b'));
  await expect.poll(office.groups).toEqual(['a']);
});

test('a cluster restored to an earlier state does not delete the objects that it no longer states', async () => {
  const { office, server, runner, config, state, message } = await running(cluster(['a', 'b', 'c']));
  await expect.poll(office.groups).toEqual(['a', 'b', 'c']);
  const restored = (names: readonly string[], at: string) =>
    cluster([], { [groups]: { lists: [listOf([...names.map((name) => group(name))], at)] } });
  await runner.stop();
  server.turnTo(restored(['a'], '50'));
  const second = office.run([], { clusters: [config] });
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(/restored to an earlier state.*stated since: Group b, Group c; state them again/);
  await second.stop();
  const reads = () => server.requests.filter((request) => request.startsWith(`GET ${definition}`)).length;
  const before = reads();
  // The `resourceVersion` of the restored cluster is now higher than before, so it no longer reveals the restore.
  server.turnTo(restored(['a'], '5000'));
  office.run([], { clusters: [config] });
  await expect.poll(reads).toBeGreaterThan(before);
  expect([await state(), await office.groups()]).toEqual(['unavailable', ['a', 'b', 'c']]);
  server.say(groups, added('b'), added('c'));
  await expect.poll(state).toBe('applied');
  server.say(groups, deleted('c'));
  await expect.poll(office.groups).toEqual(['a', 'b']);
});

test('the objects of a deleted namespace stay, and its source states how to remove them', async () => {
  const { office, server, state, message } = await running(cluster(['a', 'b']));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.say(namespaces, { type: 'MODIFIED', object: namespace('team-a', { phase: 'Terminating' }) });
  server.say(groups, deleted('a'), deleted('b'));
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(/namespace team-a is being deleted; the objects that it stated stay/);
  server.say(namespaces, { type: 'DELETED', object: namespace('team-a') });
  await expect.poll(message).toMatch(/team-a does not exist any more.*`heddle detach k8s.team-a`/);
  expect(await office.groups()).toEqual(['a', 'b']);
});

test('E145: revoked rights make the source unavailable with the reason, until they are granted again', async () => {
  const { office, server, state, message } = await running(cluster(['a']));
  await expect.poll(office.groups).toEqual(['a']);
  const refused = { status: 403, body: statusOf(403, 'Forbidden', 'groups.heddle.dev is forbidden') };
  server.turnTo(cluster([], { [groups]: { lists: [refused], watches: [refused] } }));
  server.endWatches(groups);
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(
    /kind Group cannot be read: the API server answered 403: groups.heddle.dev is forbidden/,
  );
  server.turnTo(cluster(['a']));
  await expect.poll(state).toBe('applied');
  server.say(groups, added('b'));
  await expect.poll(office.groups).toEqual(['a', 'b']);
});

test('only one of two servers reads the cluster, and the other takes over when it stops', async () => {
  const { office, config, runner, server } = await running(cluster(['a']));
  await expect.poll(office.groups).toEqual(['a']);
  const lists = () => server.requests.filter((request) => request.startsWith(`GET ${groups}?limit`)).length;
  const before = lists();
  office.run([], { clusters: [config], engine: await office.another(), leaseSeconds: 1 });
  server.say(groups, added('b'));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  expect(lists()).toBe(before);
  await runner.stop();
  server.turnTo(cluster(['a', 'c']));
  await expect.poll(office.groups).toEqual(['a', 'c']);
});

test('a resource with a problem does not prevent the others of its namespace from being applied', async () => {
  const { office, server, state } = await running(cluster(['a', 'b']));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.say(groups, changed('a', { wrong: true }), added('c'));
  await expect.poll(office.groups).toEqual(['a', 'b', 'c']);
  await expect
    .poll(async () => (await office.statusOf('k8s.team-a')).problems)
    .toMatchObject([{ code: 'field_unknown', file: 'team-a/groups/a.json', path: '/spec/wrong', key: 'a' }]);
  const { conditions = [], message } = await office.statusOf('k8s.team-a');
  expect(conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: 'HeldBack' });
  expect(message).toMatch(/1 created, 0 changed, 0 deleted; 1 file is held back because of problems/);
  expect(await state()).toBe('applied');
  server.say(groups, changed('a', { name: 'Mended' }));
  await expect.poll(async () => (await office.statusOf('k8s.team-a')).problems).toBeUndefined();
});

test('resources deleted one by one need the same approval as when deleted at once', async () => {
  const names = [...'abcdefghijklmnopqrstuvwxy'];
  const { office, server, config, runner, state, message } = await running(cluster(names));
  await expect.poll(office.groups).toEqual(names);
  await runner.stop();
  const rules = [{ names: ['team-a'] }];
  office.run([], { clusters: [{ ...config, namespaces: rules }] });
  server.turnTo(cluster(names));
  for (const [at, name] of names.slice(0, 5).entries()) {
    await expect
      .poll(() => server.requests.filter((request) => request.includes(`${groups}?watch`)).length)
      .toBeGreaterThan(1);
    server.say(groups, deleted(name));
    await expect.poll(office.groups).toEqual(names.slice(at + 1));
  }
  server.say(groups, deleted('f'));
  await expect.poll(state).toBe('needs_approval');
  expect(await message()).toMatch(
    /deletes 1 object, after 5 in the last hour, of 25; up to 5 per hour need no approval/,
  );
  expect(await office.groups()).toEqual(names.slice(5));
});

test('a Source resource that the server may not create is reported, and the resources are applied', async () => {
  const refused = { status: 403, body: statusOf(403, 'Forbidden', 'sources is forbidden') };
  const { office, server, runner } = await running(withSources(refused));
  await expect
    .poll(() => runner.reports.map(({ message }) => message))
    .toContainEqual('cluster k8s: the API server answered 403: sources is forbidden; it is tried again');
  server.say(groups, added('b'));
  await expect.poll(office.groups).toEqual(['a', 'b']);
});

test('a Source resource is not deleted while a starting server has not read the rest of the cluster', async () => {
  const made = {
    ...source(),
    metadata: { ...source().metadata, labels: { 'app.kubernetes.io/managed-by': 'heddle' } },
  };
  const ended = { afterwards: 'end' } as const;
  const { office, server } = await running({
    ...withSources({ status: 201, body: made }),
    [sources]: { lists: [listOf([made], '100')], watches: [ended, ended, ended, {}] },
    [groups]: { lists: [{ afterwards: 'hold' }] },
    [`${ownSources}/k8s`]: { writes: [{ body: made }] },
  });
  // A watch that ends is restarted with a growing delay, so a fourth watch shows that the server had time for a wrong
  // deletion.
  const watches = () =>
    server.requests.filter((request) => request.startsWith(`GET ${sources}?`) && request.includes('watch=true'));
  await expect.poll(watches).toHaveLength(4);
  server.say(groups, JSON.stringify(listed(group('a')).body));
  server.endWatches(groups);
  await expect.poll(office.groups).toEqual(['a']);
  await expect
    .poll(() => server.requests.filter((request) => request.startsWith(`PATCH ${ownSources}/k8s/status`)))
    .not.toEqual([]);
  expect(server.requests.filter((request) => request.startsWith('DELETE'))).toEqual([]);
});
