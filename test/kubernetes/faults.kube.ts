import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { ApiError } from '../../src/kubernetes/errors.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';
import { type ApiServer, startApiServer } from './server.ts';

let server: ApiServer;
let client: Client;

// Uses a separate API server: these tests stop it, and remove permissions that all its users share.
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ connection: await connectByKubeconfig(server.kubeconfig), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

const groupsDefinition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/groups.heddle.dev';

async function follow(namespace: string, kubeconfigFile = server.kubeconfig) {
  const metadata = { name: namespace };
  await client.apply(`/api/v1/namespaces/${namespace}`, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const office = await openSampleAccount();
  office.run([], { clusters: [{ name: 'k8s', kubeconfigFile, namespaces: [{ names: [namespace] }] }] });
  const at = (name: string) => `/apis/heddle.dev/v1/namespaces/${namespace}/groups/${name}`;
  return {
    ...office,
    at,
    put: (name: string, spec: JsonObject = {}) =>
      client.apply(at(name), { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name }, spec }),
    state: async () => (await office.statusOf(`k8s.${namespace}`)).state,
    message: async () => (await office.statusOf(`k8s.${namespace}`)).message,
  };
}

/** Waits until no object exists at a path. */
async function gone(path: string): Promise<void> {
  const isThere = () =>
    client.get(path).then(
      () => true,
      (error: unknown) => !(error instanceof ApiError && error.status === 404),
    );
  await expect.poll(isThere).toBe(false);
}

test('no object is deleted while the API server is down, and changes after its restart are applied', async () => {
  const { groups, put, at, state, message } = await follow('stopped');
  await put('a');
  await put('b');
  await expect.poll(groups).toEqual(['a', 'b']);
  await server.stop('SIGKILL');
  await expect.poll(state).toBe('unavailable');
  expect(await message()).toMatch(/kind Group cannot be read: https:.*ECONNREFUSED/);
  expect(await groups()).toEqual(['a', 'b']);
  await server.start();
  await put('c');
  await client.delete(at('a'));
  await expect.poll(groups).toEqual(['b', 'c']);
  await expect.poll(state).toBe('applied');
});

test('E140: deleting a CRD deletes none of the objects of its resources, also when it is installed again', async () => {
  const { groups, put, at, state, message } = await follow('defined');
  await put('d');
  await put('e');
  await expect.poll(groups).toEqual(['d', 'e']);
  await client.delete(groupsDefinition);
  await gone(groupsDefinition);
  await expect.poll(state).toBe('unavailable');
  expect(await groups()).toEqual(['d', 'e']);
  await installDefinitions(client);
  await put('d');
  await expect.poll(message).toMatch(/Group was deleted and created again.*state them again/);
  expect(await groups()).toEqual(['d', 'e']);
  await put('e');
  await expect.poll(state).toBe('applied');
  await client.delete(at('e'));
  await expect.poll(groups).toEqual(['d']);
});

test('the objects of a deleted namespace stay, and are owned by it again when it is created again', async () => {
  const { groups, put, at, state, message } = await follow('left');
  await put('f');
  await expect.poll(groups).toEqual(['f']);
  await client.delete('/api/v1/namespaces/left');
  // This is the work of the namespace controller, which the test server does not run.
  await client.delete(at('f'));
  await expect.poll(message).toMatch(/the namespace left is being deleted; the objects that it stated stay/);
  expect(await groups()).toEqual(['f']);
  const { metadata } = await client.get('/api/v1/namespaces/left');
  await client.replace('/api/v1/namespaces/left/finalize', {
    ...{ apiVersion: 'v1', kind: 'Namespace', spec: { finalizers: [] } },
    metadata: { name: 'left', resourceVersion: metadata.resourceVersion },
  });
  await gone('/api/v1/namespaces/left');
  await expect.poll(message).toMatch(/the namespace left does not exist any more/);
  await client.apply('/api/v1/namespaces/left', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left' } });
  await put('f', { name: 'Again' });
  await expect.poll(state).toBe('applied');
  expect(await groups()).toEqual(['f']);
});

test('E145: a source without its rights reports so, deletes nothing, and continues when they are granted again', async () => {
  const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/reader';
  const rules = [
    { apiGroups: ['heddle.dev'], resources: ['*'], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
  ];
  const grant = () =>
    client.apply(role, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules,
    });
  await grant();
  await client.apply('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/reader', {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'reader' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'reader' }],
  });
  const { groups, put, at, state, message } = await follow('granted', await server.kubeconfigFor('reader'));
  await put('g');
  await expect.poll(() => conditionsAt(client, at('g'))).toMatchObject({ Ready: 'True' });
  await client.delete(role);
  // Open watches continue: the API server checks permissions when a new watch begins.
  await server.stop();
  await server.start();
  await expect.poll(message).toMatch(/kind Group cannot be read: .*403.*forbidden/);
  expect(await state()).toBe('unavailable');
  expect(await groups()).toEqual(['g']);
  await grant();
  await put('h');
  await expect.poll(groups).toEqual(['g', 'h']);
});
