import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { establish } from '../kubernetes/definitions.ts';
import { kubectl } from './helm.ts';
import { type Manifest, only, readManifests, render } from './render.ts';
import { standIns } from './stand-ins.ts';
import { valueSets } from './value-sets.ts';

const namespace = 'restricted';
const levels = ['enforce', 'warn', 'audit'].map(
  (mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted'] as const,
);
let folder: string;
let admin: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-dry-run-'));
  admin = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  const metadata = { name: namespace, labels: Object.fromEntries(levels) };
  await admin.apply(`/api/v1/namespaces/${namespace}`, { apiVersion: 'v1', kind: 'Namespace', metadata });
  await establish(admin, standIns);
});

afterAll(async () => {
  admin.close();
  await rm(folder, { recursive: true });
});

/**
 * Sends objects to the API server with strict validation, without creating them. Returns the output lines of kubectl;
 * throws when the API server refuses an object or warns about it.
 */
async function dryRun(command: readonly string[], items: readonly Manifest[]): Promise<readonly string[]> {
  const file = join(folder, 'objects.yaml');
  // Separate documents instead of a List: kubectl checks the objects of a List itself, before the API server can.
  await writeFile(file, items.map((item) => JSON.stringify(item)).join('\n---\n'));
  const args = ['--dry-run=server', '--validate=strict', '--warnings-as-errors', '--namespace', namespace];
  const out = await kubectl([...command, ...args, '--filename', file], inject('kubeconfig'));
  return out.trim().split('\n');
}

describe('an API server that enforces the restricted Pod Security Standard', () => {
  test.each(valueSets)(
    'creates everything that the chart renders with the values of %s, without a warning',
    async (_, options) => {
      const manifests = await render({ ...options, args: ['--namespace', namespace] });
      const { name } = only(manifests, 'ServiceAccount').metadata;
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
      // Without the ServiceAccount the API server refuses the test pod. No other object is really created.
      await admin.apply(path, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
      const others = manifests.filter(({ kind }) => kind !== 'ServiceAccount');
      const lines = await dryRun(['create'], others);
      expect(lines).toHaveLength(others.length);
      expect(lines.filter((line) => !line.endsWith('created (server dry run)'))).toEqual([]);
      await admin.delete(path);
      expect(await dryRun(['create'], [only(manifests, 'ServiceAccount')])).toHaveLength(1);
    },
  );

  test('warns about a Deployment with pods that violate the profile', async () => {
    const over = { securityContext: { allowPrivilegeEscalation: true } };
    const manifests = await render({ values: ['postgres'], over, args: ['--namespace', namespace] });
    const said = dryRun(['create'], [only(manifests, 'Deployment')]);
    await expect(said).rejects.toThrow(/would violate PodSecurity "restricted:latest"/);
  });

  test('refuses a misspelt field in an object of a third-party kind', async () => {
    const [route] = (await render({ values: ['operators'] })).filter(({ kind }) => kind === 'HTTPRoute');
    const wrong = JSON.parse(JSON.stringify(route).replace('backendRefs', 'backendRef').replaceAll('mesh', namespace));
    await expect(dryRun(['create'], [wrong])).rejects.toThrow(/unknown field "spec.rules\[0\].backendRef"/);
  });

  test('creates the Postgres cluster of the CloudNativePG example', async () => {
    const manifests = readManifests(await readFile('examples/kubernetes/cloudnative-pg/cluster.yaml', 'utf8'));
    expect(await dryRun(['create'], manifests)).toEqual([
      'cluster.postgresql.cnpg.io/heddle-db created (server dry run)',
    ]);
  });

  test.each([[{}], [{ unknownFields: ['Deny'], roles: { create: true, aggregate: true } }]])(
    'applies everything that the CRD chart renders with %o, without a warning',
    async (over) => {
      const manifests = await render({ chart: 'charts/heddle-crds', over, args: ['--kube-version', '1.37.0'] });
      const lines = await dryRun(['apply', '--server-side', '--force-conflicts'], manifests);
      expect(lines).toHaveLength(manifests.length);
      expect(lines.filter((line) => !line.endsWith('serverside-applied (server dry run)'))).toEqual([]);
    },
  );
});
