import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Manifest } from './render.ts';

/** A stand-in for an API server that answers helm's look-ups like a cluster that contains only these objects. */
export interface Cluster extends AsyncDisposable {
  readonly kubeconfig: string;
}

/** Starts the stand-in. It serves only the kinds of a small installation. */
export async function startCluster(objects: readonly Manifest[]): Promise<Cluster> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://cluster');
    const found = answers[pathname] ?? objects.find((object) => pathOf(object) === pathname);
    response.statusCode = found === undefined ? 404 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(found ?? missing));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast is safe: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'heddle-cluster-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(configOf(`http://127.0.0.1:${port}`)));
  return {
    kubeconfig,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const kinds: Readonly<Record<string, readonly string[]>> = {
  v1: ['Secret', 'Service', 'ServiceAccount', 'ConfigMap', 'Pod'],
  'apps/v1': ['Deployment'],
  'networking.k8s.io/v1': ['NetworkPolicy'],
};
const groups = Object.keys(kinds).filter((version) => version !== 'v1');

const answers: Readonly<Record<string, object>> = {
  '/version': { major: '1', minor: '34', gitVersion: 'v1.34.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: groups.map(groupOf) },
  ...Object.fromEntries(
    Object.entries(kinds).map(([version, known]) => [pathOfVersion(version), listOf(version, known)]),
  ),
};

function groupOf(groupVersion: string): object {
  return { name: groupVersion.split('/')[0], versions: [{ groupVersion, version: 'v1' }] };
}

function pathOfVersion(version: string): string {
  return version.includes('/') ? `/apis/${version}` : `/api/${version}`;
}

function listOf(groupVersion: string, known: readonly string[]): object {
  return { kind: 'APIResourceList', groupVersion, resources: known.map(resourceOf) };
}

function resourceOf(kind: string): object {
  return { name: `${kind.toLowerCase()}s`, namespaced: true, kind, verbs: ['get', 'list'] };
}

const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404, message: 'gone' };

function pathOf({ kind, metadata }: Manifest): string {
  return `/api/v1/namespaces/${metadata.namespace}/${kind.toLowerCase()}s/${metadata.name}`;
}

function configOf(server: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server } }],
    users: [{ name: 'test', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
}
