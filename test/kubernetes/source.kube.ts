import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import type { KubernetesConfig } from '../../src/model/sources/kubernetes.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';

let client: Client;

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(() => client.close());

/** Creates a namespace that is a source, and starts a server that reads it. */
async function follow(namespace: string) {
  await client.apply(`/api/v1/namespaces/${namespace}`, {
    ...{ apiVersion: 'v1', kind: 'Namespace' },
    metadata: { name: namespace },
  });
  const office = await openSampleAccount();
  const config: KubernetesConfig = {
    name: 'k8s',
    kubeconfigFile: inject('kubeconfig'),
    namespaces: [{ names: [namespace] }],
  };
  const runner = office.run([], { clusters: [config] });
  const at = (plural: string, name: string) => `/apis/heddle.dev/v1/namespaces/${namespace}/${plural}/${name}`;
  return {
    office,
    runner,
    run: () => office.run([], { clusters: [config] }),
    at,
    apply: (kind: string, plural: string, name: string, spec: JsonObject = {}) =>
      client.apply(at(plural, name), { apiVersion: 'heddle.dev/v1', kind, metadata: { name }, spec }),
    conditions: (plural: string, name: string) => conditionsAt(client, at(plural, name)),
    status: async (plural: string, name: string) => (await client.get(at(plural, name))).status as JsonObject,
  };
}

const ready = { Ready: 'True', Reconciling: 'False', Stalled: 'False', Drifted: 'False', Conflicted: 'False' };
const rule = { name: 'main', action: 'accept', protocol: 'all', sources: ['devs'], destinations: ['devs'] };

test('applied resources report the id of their object and the revision that changed it', async () => {
  const { office, apply, conditions, status } = await follow('applied');
  await apply('Group', 'groups', 'devs');
  await apply('Policy', 'policies', 'allow', { rules: [rule] });
  await expect.poll(() => conditions('policies', 'allow')).toEqual(ready);
  await expect.poll(() => conditions('groups', 'devs')).toEqual(ready);
  const group = (await office.engine.snapshots.fresh(office.account)).findByKey('Group', 'devs');
  expect(await status('groups', 'devs')).toMatchObject({
    ...{ id: group?.id, revision: group?.updatedRevision, source: 'k8s.applied', observedGeneration: 1 },
  });
});

test('E141: an invalid generation reports its problem and keeps the object, and fixing it makes the resource Ready', async () => {
  const { office, apply, conditions, status } = await follow('stalled');
  await apply('Group', 'groups', 'devs');
  await apply('Policy', 'policies', 'allow', { rules: [rule] });
  await expect.poll(() => conditions('policies', 'allow')).toEqual(ready);
  await apply('Policy', 'policies', 'allow', { rules: [{ ...rule, sources: ['nobody'] }] });
  await expect.poll(() => conditions('policies', 'allow')).toMatchObject({ Ready: 'False', Reconciling: 'True' });
  expect(await status('policies', 'allow')).toMatchObject({
    observedGeneration: 2,
    problems: [{ code: 'reference_unknown', path: '/spec/rules/0/sources/0' }],
  });
  const policy = (await office.engine.snapshots.fresh(office.account)).findByKey('Policy', 'allow');
  expect(policy?.updatedRevision).toBe(policy?.createdRevision);
  await apply('Group', 'groups', 'nobody');
  await expect.poll(() => conditions('policies', 'allow')).toEqual(ready);
  expect(await status('policies', 'allow')).not.toHaveProperty('problems');
});

test('a restart writes nothing to resources that did not change', async () => {
  const { runner, run, apply, conditions, at } = await follow('restarted');
  await apply('Group', 'groups', 'devs');
  await expect.poll(() => conditions('groups', 'devs')).toEqual(ready);
  const { metadata } = await client.get(at('groups', 'devs'));
  await runner.stop();
  run();
  await apply('Group', 'groups', 'ops');
  await expect.poll(() => conditions('groups', 'ops')).toEqual(ready);
  expect((await client.get(at('groups', 'devs'))).metadata.resourceVersion).toBe(metadata.resourceVersion);
});

test('a change of the status of a resource emits an event, and an unchanged status none', async () => {
  const { apply, conditions } = await follow('events');
  await apply('Group', 'groups', 'devs');
  await expect.poll(() => conditions('groups', 'devs')).toEqual(ready);
  await apply('Group', 'groups', 'devs', { name: 'Developers' });
  await expect
    .poll(async () => (await client.get('/apis/heddle.dev/v1/namespaces/events/groups/devs')).status)
    .toMatchObject({
      observedGeneration: 2,
    });
  const { items } = await client.list('/apis/events.k8s.io/v1/namespaces/events/events');
  const ofGroups = items.filter((event) => JSON.stringify(event).includes('"kind":"Group"'));
  expect(ofGroups).toMatchObject([{ reason: 'Applied', type: 'Normal', regarding: { kind: 'Group', name: 'devs' } }]);
});

test('E142: of two namespaces that state the same key the second is Conflicted and names the first', async () => {
  const first = await follow('first');
  await first.apply('Group', 'groups', 'shared', { name: 'One' });
  await expect.poll(() => first.conditions('groups', 'shared')).toEqual(ready);
  await first.runner.stop();
  await client.apply('/api/v1/namespaces/second', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'second' },
  });
  const path = '/apis/heddle.dev/v1/namespaces/second/groups/shared';
  await client.apply(path, {
    apiVersion: 'heddle.dev/v1',
    kind: 'Group',
    metadata: { name: 'shared' },
    spec: { name: 'Two' },
  });
  const namespaces = [{ names: ['first', 'second'] }];
  first.office.run([], { clusters: [{ name: 'k8s', kubeconfigFile: inject('kubeconfig'), namespaces }] });
  await expect
    .poll(() => conditionsAt(client, path))
    .toMatchObject({ Ready: 'False', Conflicted: 'True', Stalled: 'True' });
  expect(JSON.stringify((await client.get(path)).status)).toMatch(/k8s\.first/);
  expect(await first.conditions('groups', 'shared')).toEqual(ready);
});

test('a resource that waits for an approval names the plan, and unchanged resources stay Ready', async () => {
  const { office, apply, conditions, status, at } = await follow('waiting');
  const names = [...'abcdefgh'];
  for (const name of names) await apply('Group', 'groups', name);
  await expect.poll(() => conditions('groups', 'h')).toEqual(ready);
  await Promise.all(names.slice(0, 7).map((name) => client.delete(at('groups', name))));
  await apply('Group', 'groups', 'new');
  await expect.poll(async () => (await office.statusOf('k8s.waiting')).state).toBe('needs_approval');
  const { planId } = await office.statusOf('k8s.waiting');
  await expect.poll(() => conditions('groups', 'new')).toMatchObject({ Ready: 'False', Stalled: 'True' });
  expect(await status('groups', 'new')).toMatchObject({ planId });
  expect(await conditions('groups', 'h')).toEqual(ready);
  expect((await office.groups()).slice(0, 8)).toEqual(names);
});
