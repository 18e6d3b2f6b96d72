import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import type { Resource } from '../../src/kubernetes/resource.ts';
import { establish } from '../kubernetes/definitions.ts';
import { installation, installations } from './before.ts';
import { helm } from './helm.ts';
import { at } from './render.ts';
import { standIns } from './stand-ins.ts';

/** API paths of the objects of a kind, in a namespace. */
const apiPaths = {
  Deployment: '/apis/apps/v1/namespaces/NAMESPACE/deployments',
  Service: '/api/v1/namespaces/NAMESPACE/services',
  Secret: '/api/v1/namespaces/NAMESPACE/secrets',
  PersistentVolumeClaim: '/api/v1/namespaces/NAMESPACE/persistentvolumeclaims',
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies',
};
type Kind = keyof typeof apiPaths;
let folder: string;
let admin: Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-upgrade-'));
  admin = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await establish(admin, standIns);
});

afterAll(async () => {
  admin.close();
  await rm(folder, { recursive: true });
});

async function run(args: readonly string[]): Promise<void> {
  const { code, err } = await helm(args, inject('kubeconfig'));
  if (code !== 0) throw new Error(err);
}

/** Creates a chart that renders the objects of the earlier chart, in another namespace. */
async function chartOf(objects: string, namespace: string): Promise<string> {
  const chart = await mkdtemp(join(folder, 'chart-'));
  await mkdir(join(chart, 'templates'));
  await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: heddle\nversion: 0.1.0\n');
  const moved = objects.replaceAll('namespace: mesh', `namespace: ${namespace}`);
  await writeFile(join(chart, 'templates/all.yaml'), moved.replaceAll('name: mesh:', `name: ${namespace}:`));
  return chart;
}

async function objectsIn(namespace: string, kind: Kind): Promise<readonly Resource[]> {
  const { items } = await admin.list(apiPaths[kind].replace('NAMESPACE', namespace));
  // Helm also stores its releases in Secrets.
  return items.filter(({ metadata }) => !metadata.name.startsWith('sh.helm.release'));
}

/** Returns the objects and members that an upgrade must keep. */
async function kept(namespace: string): Promise<unknown> {
  const found = async (kind: Kind) => objectsIn(namespace, kind);
  return {
    claims: (await found('PersistentVolumeClaim')).map(({ metadata: { uid }, spec }) => ({ uid, spec })),
    secrets: (await found('Secret')).map(({ metadata: { uid, name }, data }) => ({ uid, name, data })),
    deployments: (await found('Deployment')).map(({ metadata: { uid }, spec }) => ({
      ...{ uid, selector: at(spec, 'selector'), pod: at(spec, 'template.metadata.labels') },
    })),
    services: (await found('Service')).map(({ metadata: { uid, name }, spec }) => ({
      ...{ uid, name, address: at(spec, 'clusterIP'), selector: at(spec, 'selector') },
    })),
  };
}

// Helm 4 lets the API server merge objects; earlier versions merged objects themselves.
describe.each(['true', 'false'])('with --server-side=%s', (serverSide) => {
  test.each(installations)(
    'helm upgrades the installation %s and keeps its claims, Secrets, Deployments and Services',
    async (name) => {
      const namespace = `upgrade-${name}-${serverSide}`;
      const { values, objects } = installation(name);
      const file = join(folder, 'values.json');
      await writeFile(file, JSON.stringify(values));
      const flags = ['--namespace', namespace, `--server-side=${serverSide}`];
      await run(['install', 'office', await chartOf(objects, namespace), ...flags, '--create-namespace']);
      const before = await kept(namespace);
      await run(['upgrade', 'office', 'charts/heddle', ...flags, '--values', file]);
      expect(await kept(namespace)).toEqual(before);
      // Shows that the new chart is installed: the earlier chart rendered no NetworkPolicy for two of the
      // installations.
      expect(await objectsIn(namespace, 'NetworkPolicy')).toHaveLength(1);
      await run(['upgrade', 'office', 'charts/heddle', ...flags, '--values', file, '--set', 'podLabels.tier=mesh']);
      await run(['rollback', 'office', '2', ...flags]);
      expect(await kept(namespace)).toEqual(before);
    },
  );
});

test('uninstalling keeps the volume and the Secrets', async () => {
  const namespace = 'upgrade-uninstall';
  const release = ['office', '--namespace', namespace];
  await run(['install', ...release, 'charts/heddle', '--create-namespace', '--set', 'embedded.enabled=true']);
  const [secrets, claims] = [await objectsIn(namespace, 'Secret'), await objectsIn(namespace, 'PersistentVolumeClaim')];
  await run(['uninstall', ...release]);
  expect(await objectsIn(namespace, 'Deployment')).toEqual([]);
  const uids = (list: readonly Resource[]) => list.map(({ metadata }) => metadata.uid);
  expect(uids(await objectsIn(namespace, 'Secret'))).toEqual(uids(secrets));
  expect(uids(await objectsIn(namespace, 'PersistentVolumeClaim'))).toEqual(uids(claims));
  expect([secrets.length, claims.length]).toEqual([1, 1]);
});
