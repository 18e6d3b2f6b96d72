import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import type { Resource } from '../../src/kubernetes/resource.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { conditionsAt } from '../kubernetes/definitions.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { kubectl } from './helm.ts';
import { type Manifest, only, render } from './render.ts';

const namespaces = [{ names: ['rights'] }];
const group = (name: string) => ({ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name }, spec: {} });
const pathOf = (name: string) => `/apis/heddle.dev/v1/namespaces/rights/groups/${name}`;
const accounts = '/api/v1/namespaces/mesh/serviceaccounts';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
let folder: string;
let kubeconfigFile: string;
let admin: Client;
/** Client with the credentials of the chart's service account, as the servers use it. */
let server: Client;

beforeAll(async () => {
  admin = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'helm' });
  for (const name of ['mesh', 'rights'])
    await apply('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const manifest of await render({ chart: 'charts/heddle-crds' }))
    if (manifest.kind === 'CustomResourceDefinition')
      await apply('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifest);
  const manifests = await render({ values: ['postgres'], over: { kubernetes: { enabled: true, namespaces } } });
  const account = only(manifests, 'ServiceAccount');
  await apply(accounts, account);
  await apply(`${rbac}/clusterroles`, only(manifests, 'ClusterRole'));
  await apply(`${rbac}/clusterrolebindings`, only(manifests, 'ClusterRoleBinding'));
  folder = await mkdtemp(join(tmpdir(), 'heddle-rights-'));
  kubeconfigFile = join(folder, 'kubeconfig');
  await writeFile(kubeconfigFile, await kubeconfigOf(account.metadata.name));
  server = createClient({ connection: await connectByKubeconfig(kubeconfigFile), fieldManager: 'heddle' });
});

afterAll(async () => {
  admin.close();
  server.close();
  await rm(folder, { recursive: true });
});

function apply(path: string, manifest: Manifest): Promise<Resource> {
  // The cast is safe: everything that a chart renders is JSON.
  return admin.apply(`${path}/${manifest.metadata.name}`, manifest as unknown as JsonObject);
}

/** Returns the content of a kubeconfig file for a service account. */
async function kubeconfigOf(name: string): Promise<string> {
  const token = await kubectl(['create', 'token', name, '--namespace', 'mesh'], inject('kubeconfig'));
  const config = JSON.parse(await readFile(inject('kubeconfig'), 'utf8'));
  return JSON.stringify({ ...config, users: [{ name: 'admin', user: { token: token.trim() } }] });
}

test("the chart's rights suffice to follow a namespace, including deletions, and to write status and events", async () => {
  await admin.apply(pathOf('a'), group('a'));
  await admin.apply(pathOf('b'), group('b'));
  const office = await openSampleAccount();
  office.run([], { clusters: [{ name: 'k8s', kubeconfigFile, namespaces }] });
  await expect.poll(() => conditionsAt(admin, pathOf('b'))).toMatchObject({ Ready: 'True' });
  const events = async () => (await admin.list('/apis/events.k8s.io/v1/namespaces/rights/events')).items;
  const own = '/apis/heddle.dev/v1/namespaces/rights';
  await expect.poll(() => conditionsAt(admin, `${own}/sources/k8s`).catch(() => ({}))).toMatchObject({ Ready: 'True' });
  await expect.poll(async () => (await events()).length).toBeGreaterThan(2);
  expect(await office.groups()).toEqual(['a', 'b']);
  await admin.delete(pathOf('a'));
  await expect.poll(office.groups).toEqual(['b']);
});

test("the chart's rights suffice to create and delete plans, but not to approve them", async () => {
  const plans = '/apis/heddle.dev/v1/namespaces/rights/plans';
  const metadata = { name: 'waiting', namespace: 'rights' };
  await server.create(plans, { apiVersion: 'heddle.dev/v1', kind: 'Plan', metadata, spec: {} });
  await server.delete(`${plans}/waiting`);
  const approve = server.patch(`${plans}/waiting`, { spec: { approvedDigest: 'a'.repeat(64) } });
  await expect(approve).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
});

test.each<[string, () => Promise<unknown>]>([
  ['read Secrets', () => server.list('/api/v1/namespaces/mesh/secrets')],
  ['read Services', () => server.list('/api/v1/services')],
  ['change what a resource states', () => server.patch(pathOf('c'), { spec: { name: 'other' } })],
  ['delete resources', () => server.delete(pathOf('c'))],
  ['change namespaces', () => server.patch('/api/v1/namespaces/rights', { metadata: { labels: { a: 'b' } } })],
])("the chart's rights do not suffice to %s", async (_, attempt) => {
  await expect(attempt()).rejects.toMatchObject({ status: 403, reason: 'Forbidden' });
});
