import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { asObject, type JsonObject } from '../../src/lib/json.ts';
import type { KubernetesConfig } from '../../src/model/sources/kubernetes.ts';
import { render } from '../charts/render.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';
import { type ApiServer, startApiServer } from './server.ts';

let server: ApiServer;
let client: Client;

// Uses a separate API server: only there do tests have the user `reader`, who has no permissions at first.
beforeAll(async () => {
  server = await startApiServer();
  client = createClient({ connection: await connectByKubeconfig(server.kubeconfig), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(async () => {
  client.close();
  await server[Symbol.asyncDispose]();
});

const rbac = '/apis/rbac.authorization.k8s.io/v1';

type Use = Pick<KubernetesConfig, 'secrets' | 'services'>;

/** Gives the user `reader` exactly the permissions that the chart gives Heddle servers in these namespaces. */
async function grant(names: readonly string[], use: Use = {}): Promise<void> {
  const over = { kubernetes: { enabled: true, clusterWide: false, namespaces: [{ names }], ...use } };
  const kinds: Readonly<Record<string, string>> = { Role: 'roles', RoleBinding: 'rolebindings' };
  const reader = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'reader' };
  for (const manifest of await render({ values: ['postgres'], over })) {
    const plural = kinds[manifest.kind];
    if (plural === undefined) continue;
    const { namespace, name } = manifest.metadata;
    const stated = plural === 'rolebindings' ? { ...manifest, subjects: [reader] } : manifest;
    // The rendered manifests of a chart are JSON.
    await client.apply(`${rbac}/namespaces/${namespace}/${plural}/${name}`, JSON.parse(JSON.stringify(stated)));
  }
}

/** Creates namespaces, and starts a server that reads them as the user `reader`, without cluster-wide permissions. */
async function follow(names: readonly string[], use: Use = {}) {
  for (const name of names)
    await client.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const office = await openSampleAccount();
  const kubeconfigFile = await server.kubeconfigFor('reader');
  const config = { name: 'k8s', kubeconfigFile, clusterWide: false, namespaces: [{ names }], ...use };
  const at = (namespace: string, plural: string, name: string) =>
    `/apis/heddle.dev/v1/namespaces/${namespace}/${plural}/${name}`;
  const [namespace = ''] = names;
  const apply = (kind: string, name: string, spec: JsonObject = {}, into = namespace) =>
    client.apply(at(into, `${kind.toLowerCase()}s`, name), {
      ...{ apiVersion: 'heddle.dev/v1', kind, metadata: { name }, spec },
    });
  return {
    ...{ office, at, apply },
    runner: office.run([], { clusters: [config] }),
    conditions: (plural: string, name: string, of = namespace) => conditionsAt(client, at(of, plural, name)),
    status: async (plural: string, name: string) =>
      asObject((await client.get(at(namespace, plural, name))).status ?? {}),
    async object(kind: string, key: string) {
      return (await office.engine.snapshots.fresh(office.account)).findByKey(kind, key);
    },
  };
}

test('a server with Roles only reads, applies and writes statuses in their namespaces, and reports those without one', async () => {
  await client.apply('/api/v1/namespaces/near', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'near' } });
  await client.apply('/api/v1/namespaces/next', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'next' } });
  await grant(['near', 'next']);
  const { office, runner, at, apply, conditions } = await follow(['near', 'next', 'closed']);
  for (const name of ['a', 'b', 'c']) await apply('Group', name);
  await apply('Group', 'd', {}, 'next');
  await apply('Group', 'hidden', {}, 'closed');
  await expect.poll(office.groups).toEqual(['a', 'b', 'c', 'd']);
  await expect.poll(() => conditions('groups', 'a')).toMatchObject({ Ready: 'True' });
  await expect.poll(() => conditions('groups', 'd', 'next')).toMatchObject({ Ready: 'True' });
  await expect.poll(() => conditions('sources', 'k8s').catch(() => ({}))).toMatchObject({ Ready: 'True' });
  const reports = () => runner.reports.map(({ message }) => message).join('\n');
  await expect.poll(reports).toMatch(/its namespaces cannot be read: namespace closed: .*403.*forbidden/);
  await client.delete(at('near', 'groups', 'a'));
  await expect.poll(office.groups).toEqual(['b', 'c', 'd']);
  // The server may not read definitions, so it cannot tell whether the Group was deleted together with its definition.
  await client.delete(at('next', 'groups', 'd'));
  await expect
    .poll(async () => (await office.statusOf('k8s.next')).message)
    .toMatch(/no resource of the kind Group is left.*right to get customresourcedefinitions/);
  await apply('Group', 'e');
  await expect.poll(office.groups).toEqual(['b', 'c', 'd', 'e']);
});

function channel(secret: string): JsonObject {
  const headers = { Authorization: { valueFrom: { secretKeyRef: { name: secret, key: 'token' } } } };
  return { type: 'webhook', target: { url: 'https://hooks.example.com/mesh', headers }, event_types: ['user.join'] };
}

test('revoking rights on Secrets keeps the applied value, and granting them again applies the current one', async () => {
  const secrets = { read: true };
  const { apply, conditions, status, object, office } = await follow(['secretive'], { secrets });
  await grant(['secretive'], { secrets });
  const put = (token: string) =>
    client.apply('/api/v1/namespaces/secretive/secrets/hook', {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'hook' }, stringData: { token } },
    });
  await put('Bearer alphasecret');
  await apply('NotificationChannel', 'web', channel('hook'));
  const ready = { Ready: 'True', Stalled: 'False' };
  await expect.poll(() => conditions('notificationchannels', 'web')).toMatchObject(ready);
  const first = await object('NotificationChannel', 'web');
  await grant(['secretive']);
  await put('Bearer bravosecret');
  await apply('Group', 'look');
  await expect
    .poll(() => status('notificationchannels', 'web'))
    .toMatchObject({ problems: [{ message: expect.stringMatching(/403.*forbidden/) }] });
  expect(await office.groups()).toEqual(['look']);
  expect(await object('NotificationChannel', 'web')).toEqual(first);
  await grant(['secretive'], { secrets });
  await expect.poll(() => conditions('notificationchannels', 'web')).toMatchObject(ready);
  expect((await object('NotificationChannel', 'web'))?.updatedRevision).toBeGreaterThan(first?.updatedRevision ?? 0);
});

test('a network resource follows the Service that it names, from its creation to a new address', async () => {
  const services = { read: true };
  const { office, apply, conditions, status } = await follow(['serving'], { services });
  await grant(['serving'], { services });
  const wiki = '/api/v1/namespaces/serving/services/wiki';
  const serve = (clusterIP: string) =>
    client.apply(wiki, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'wiki' } },
      spec: { clusterIP, ports: [{ port: 443 }] },
    });
  const address = async () => {
    const state = await office.engine.snapshots.fresh(office.account);
    return state.ofKind('NetworkResource').find(({ name }) => name === 'Wiki')?.spec['address'];
  };
  await apply('Network', 'cluster');
  await apply('NetworkResource', 'wiki', { network: 'cluster', name: 'Wiki', serviceRef: { name: 'wiki', port: 443 } });
  await expect
    .poll(() => status('networkresources', 'wiki'))
    .toMatchObject({ problems: [{ code: 'service_unresolved', path: '/spec/serviceRef' }] });
  await serve('10.0.0.50');
  await expect.poll(address).toBe('10.0.0.50/32');
  await expect.poll(() => conditions('networkresources', 'wiki')).toMatchObject({ Ready: 'True' });
  // The address of a Service is immutable, so the Service is deleted and created again. No other event occurs: the
  // server notices the change by itself.
  await client.delete(wiki);
  await serve('10.0.0.60');
  await expect.poll(address).toBe('10.0.0.60/32');
  await expect.poll(() => conditions('networkresources', 'wiki')).toMatchObject({ Ready: 'True' });
});
