import { expect, test } from 'vitest';
import { type Conversation, statusOf } from './conversation.ts';
import { definition, group, listed, namespace, namespaces, running } from './scripted-cluster.ts';

const groupsIn = (of: string) => `/apis/heddle.dev/v1/namespaces/${of}/groups`;
const forbidden = { status: 403, body: statusOf(403, 'Forbidden', 'is forbidden') };
const rules = {
  clusterWide: false,
  namespaces: [{ names: ['team-a', 'team-b'], limits: { deletes: 50, kindShare: 1 } }],
};

/** Returns what a server with permissions in `team-a` only can read of a cluster. */
function cluster(names: readonly string[], others: Conversation = {}): Conversation {
  return {
    [namespaces]: { lists: [forbidden] },
    [`${namespaces}/team-a`]: { lists: [{ body: namespace('team-a') }] },
    [`${namespaces}/team-b`]: { lists: [forbidden] },
    [groupsIn('team-a')]: { lists: [listed(...names.map((name) => group(name)))] },
    [groupsIn('team-b')]: { lists: [forbidden], watches: [forbidden] },
    [definition]: { lists: [forbidden] },
    ...others,
  };
}

const deleted = (name: string) => ({ type: 'DELETED', object: group(name) });

test('a server with rights in some namespaces lists each of them; one without rights does not affect the others', async () => {
  const { office, server, runner } = await running(cluster(['a', 'b']), rules);
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.say(groupsIn('team-a'), { type: 'ADDED', object: group('c') }, deleted('a'));
  await expect.poll(office.groups).toEqual(['b', 'c']);
  expect(
    server.requests.some((request) => /^GET \/(api\/v1\/namespaces|apis\/heddle.dev\/v1\/[a-z]+)\?/.test(request)),
  ).toBe(false);
  expect(runner.reports[0]?.message).toMatch(/its namespaces cannot be read: namespace team-b: .*403/);
});

test('without rights to read CRDs, deleting the last resource of a kind deletes no object', async () => {
  const { office, server, state, message } = await running(cluster(['a', 'b']), rules);
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.say(groupsIn('team-a'), deleted('a'), deleted('b'));
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(
    /no resource of the kind Group is left.*right to get customresourcedefinitions.*Group a, Group b; state them again/,
  );
  expect(await office.groups()).toEqual(['a', 'b']);
  server.say(groupsIn('team-a'), { type: 'ADDED', object: group('b') });
  await expect.poll(office.groups).toEqual(['b']);
});

test('the objects of a namespace that no longer exists are kept', async () => {
  const absent = { status: 404, body: statusOf(404, 'NotFound', 'namespaces "team-a" not found') };
  const { office, server, state } = await running(cluster(['a', 'b']), rules);
  await expect.poll(office.groups).toEqual(['a', 'b']);
  server.turnTo(cluster([], { [`${namespaces}/team-a`]: { lists: [absent] } }));
  server.say(groupsIn('team-a'), deleted('a'));
  await expect.poll(state).toBe('unavailable');
  expect(await office.groups()).toEqual(['a', 'b']);
});
