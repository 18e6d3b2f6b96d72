import { expect, test } from 'vitest';
import { statusOf } from './conversation.ts';
import { cluster, group, groups, namespace, namespaces, running } from './scripted-cluster.ts';
import { ownSources, source, sources, withSources } from './source-resources.ts';

test('a source applies the existing resources when its namespace appears', async () => {
  const { office, server } = await running(cluster(['a']));
  await expect.poll(office.groups).toEqual(['a']);
  server.say(groups, { type: 'ADDED', object: group('b', 'team-b') });
  server.say(namespaces, { type: 'ADDED', object: namespace('team-b') });
  await expect.poll(office.groups).toEqual(['a', 'b']);
  await expect.poll(() => office.statusOf('k8s.team-b')).toMatchObject({ state: 'applied', inventory: { Group: 1 } });
});

test('E139: resources deleted while no server ran are found by comparison', async () => {
  const { office, config, runner, server } = await running(cluster(['a', 'b']));
  await expect.poll(office.groups).toEqual(['a', 'b']);
  await runner.stop();
  server.turnTo(cluster(['b']));
  office.run([], { clusters: [config] });
  await expect.poll(office.groups).toEqual(['b']);
});

test('a namespace that no rule covers any more is not applied, and its objects stay', async () => {
  const { office, server, state, message } = await running(cluster(['a']));
  await expect.poll(office.groups).toEqual(['a']);
  const { metadata, ...rest } = namespace('team-a');
  server.say(namespaces, { type: 'MODIFIED', object: { ...rest, metadata: { ...metadata, labels: {} } } });
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(
    /no rule of the cluster k8s covers the namespace team-a any more; the objects .* stay/,
  );
  server.say(groups, { type: 'ADDED', object: group('b') });
  server.say(namespaces, { type: 'ADDED', object: namespace('team-b') });
  await expect.poll(async () => (await office.statusOf('k8s.team-b')).state).toBe('applied');
  expect(await office.groups()).toEqual(['a']);
  server.say(namespaces, { type: 'MODIFIED', object: namespace('team-a') });
  await expect.poll(office.groups).toEqual(['a', 'b']);
});

test('no resource is applied before every kind was listed (E145)', async () => {
  const policies = '/apis/heddle.dev/v1/policies';
  const failing = { status: 503, body: statusOf(503, 'ServiceUnavailable', 'the server is starting') };
  const { office, server, state, message } = await running(cluster(['a'], { [policies]: { lists: [failing] } }));
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(/kind Policy cannot be read: the API server answered 503: the server is starting/);
  expect(await office.groups()).toEqual([]);
  server.turnTo(cluster(['a']));
  await expect.poll(office.groups).toEqual(['a']);
});

test('a cluster that cannot be read is reported once, with the reason', async () => {
  const refused = { status: 401, body: statusOf(401, 'Unauthorized', 'Unauthorized') };
  const { runner } = await running(cluster([], { [namespaces]: { lists: [refused] } }));
  const message =
    'cluster k8s: its namespaces cannot be read: the API server answered 401: Unauthorized; it is tried again';
  await expect.poll(() => runner.reports).toEqual([{ level: 'error', message }]);
});

test('a namespace that is a source gets a Source resource with its status', async () => {
  const { office, server } = await running(withSources({ status: 201, body: source() }));
  await expect.poll(office.groups).toEqual(['a']);
  const written = (kind: string) =>
    server.bodies.map((body) => JSON.parse(body)).filter((body) => body.kind === kind && body.metadata.name === 'k8s');
  await expect.poll(() => written('Source')[0]).toMatchObject({ metadata: { namespace: 'team-a' }, spec: {} });
  server.say(sources, { type: 'ADDED', object: source() });
  await expect
    .poll(() => written('Source').at(-1)?.status)
    .toMatchObject({
      source: 'k8s.team-a',
      resources: 1,
      objects: 1,
      conditions: [{ type: 'Ready', status: 'True' }, ...Array(9).fill({})],
    });
});

test('the resources of a namespace are applied without the CRD of Source', async () => {
  const { office, server, state } = await running(cluster(['a']));
  await expect.poll(office.groups).toEqual(['a']);
  await expect.poll(state).toBe('applied');
  expect(server.requests.filter((request) => request.startsWith(`POST ${ownSources}`))).toEqual([]);
});
