import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { kubectl } from '../charts/helm.ts';
import { type Manifest, only, render } from '../charts/render.ts';
import { installDefinitions } from '../kubernetes/definitions.ts';
import { appliedExamples, exampleFolder } from './cluster-examples.ts';

let client: Client;
let folder: string;
const applied = await appliedExamples();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-examples-'));
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
  for (const role of (await render({ chart: 'charts/heddle-crds' })).filter(({ kind }) => kind === 'ClusterRole'))
    await create([role], []);
  await create([only(applied, 'Namespace')], []);
});

afterAll(async () => {
  client.close();
  await rm(folder, { recursive: true });
});

/** Applies objects and returns the output lines. Throws when the API server refuses an object or warns. */
async function create(manifests: readonly Manifest[], args: readonly string[]): Promise<readonly string[]> {
  const file = join(folder, 'objects.yaml');
  await writeFile(file, manifests.map((manifest) => JSON.stringify(manifest)).join('\n---\n'));
  const all = ['apply', '--server-side', '--validate=strict', '--warnings-as-errors', '--filename', file, ...args];
  return (await kubectl(all, inject('kubeconfig'))).trim().split('\n');
}

test('an API server accepts all resources of the team in strict validation, without warnings', async () => {
  const lines = await create(applied, ['--dry-run=server']);
  expect(lines).toHaveLength(applied.length);
  expect(lines.filter((line) => !line.endsWith('serverside-applied (server dry run)'))).toEqual([]);
});

test('an API server warns of pods that need more than the namespace permits', async () => {
  const text = JSON.stringify(only(applied, 'Deployment', 'web')).replace(
    '"allowPrivilegeEscalation":false',
    '"allowPrivilegeEscalation":true',
  );
  await expect(create([JSON.parse(text)], ['--dry-run=server'])).rejects.toThrow(/would violate PodSecurity/);
});

test('the patch adds the health check to the settings of Argo CD', async () => {
  const metadata = { name: 'argocd-cm', namespace: 'team-a' };
  await create([{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { url: 'https://argocd.example.com' } }], []);
  const args = ['--namespace', 'team-a', 'patch', 'configmap', 'argocd-cm', '--output', 'json', '--patch-file'];
  const patched = JSON.parse(await kubectl([...args, `${exampleFolder}argocd/health.yaml`], inject('kubeconfig')));
  expect(Object.keys(patched.data)).toEqual(['resource.customizations', 'url']);
});

test('approvers of plans may not write resources, and writers of resources may not approve plans', async () => {
  await create(
    applied.filter(({ kind }) => kind === 'RoleBinding'),
    [],
  );
  const may = async (group: string, verb: string, resource: string) => {
    const args = ['auth', 'can-i', verb, `${resource}.heddle.dev`, '--namespace', 'team-a', '--as', 'ana'];
    return (await kubectl([...args, '--as-group', group], inject('kubeconfig')).catch(() => 'no')).trim() === 'yes';
  };
  const rights = async (group: string) => [
    await may(group, 'patch', 'policies'),
    await may(group, 'patch', 'plans'),
    await may(group, 'get', 'plans'),
  ];
  expect(await rights('team-a-developers')).toEqual([true, false, true]);
  expect(await rights('mesh-approvers')).toEqual([false, true, true]);
});
