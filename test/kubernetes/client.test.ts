import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../src/kubernetes/client.ts';
import { type Connection, connectByKubeconfig, connectInCluster } from '../../src/kubernetes/connection.ts';
import { type Answer, type ConversationServer, startConversation, statusOf } from './conversation.ts';

let directory: string;
const servers: ConversationServer[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'heddle-kube-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

const path = '/api/v1/namespaces/team/secrets/keys';
const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', resourceVersion: '5' } };

function plain(server: string): Connection {
  return {
    server,
    namespace: undefined,
    credentials: async () => ({ tls: {}, headers: {} }),
    discardCredentials: () => undefined,
  };
}

async function answering(answers: { readonly lists?: readonly Answer[]; readonly writes?: readonly Answer[] }) {
  const server = await startConversation({ [path]: answers });
  servers.push(server);
  return { server, client: createClient({ connection: plain(server.url), fieldManager: 'heddle' }) };
}

describe('a Kubernetes client', () => {
  test('applies by server-side apply and takes over the fields of other field managers', async () => {
    const { server, client } = await answering({ writes: [{ body: secret }] });
    await expect(client.apply(path, { kind: 'Secret' })).resolves.toMatchObject({ kind: 'Secret' });
    expect(server.requests).toEqual([`PATCH ${path}?fieldManager=heddle&force=true`]);
    expect(server.bodies).toEqual(['{"kind":"Secret"}']);
    client.close();
  });

  test('reports a refusal by the API server with status, reason and retry delay', async () => {
    const body = {
      ...statusOf(409, 'AlreadyExists', 'secrets "keys" already exists'),
      details: { retryAfterSeconds: 3 },
    };
    const { client } = await answering({ writes: [{ status: 409, body }] });
    await expect(client.create(path, {})).rejects.toMatchObject({
      ...{ status: 409, reason: 'AlreadyExists', message: 'secrets "keys" already exists', retryAfterMs: 3000 },
    });
    client.close();
  });

  test.each([
    ['a page that is no JSON', { body: '<html>' }, /is not JSON$/],
    ['JSON that is no object of Kubernetes', { body: { ok: true } }, /is not a Kubernetes object$/],
  ])('rejects %s as an answer', async (_, answer, message) => {
    const { client } = await answering({ lists: [answer] });
    await expect(client.get(path)).rejects.toThrow(message);
    client.close();
  });

  test('names the server when a connection is reset in the middle of an answer', async () => {
    const { server, client } = await answering({ lists: [{ lines: ['{"kind":'], afterwards: 'hold' }] });
    const asked = client.get(path);
    await expect.poll(() => server.requests.length).toBe(1);
    server.reset(path);
    await expect(asked).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+: (aborted|read ECONNRESET)/);
    client.close();
  });

  test('names the server when it cannot be reached', async () => {
    const client = createClient({ connection: plain('http://127.0.0.1:1'), fieldManager: 'heddle' });
    await expect(client.get(path)).rejects.toThrow(/^http:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/);
    client.close();
  });
});

describe('an in-cluster connection', () => {
  const address = { host: '10.0.0.1', port: '6443' };

  test('reads its token and its CA again after it was refused', async () => {
    await writeFile(join(directory, 'ca.crt'), 'PEM');
    await writeFile(join(directory, 'namespace'), 'heddle\n');
    await writeFile(join(directory, 'token'), 'first\n');
    const connection = await connectInCluster(address, directory);
    expect(connection).toMatchObject({ server: 'https://10.0.0.1:6443', namespace: 'heddle' });
    const authorization = async () => (await connection.credentials()).headers['authorization'];
    expect(await authorization()).toBe('Bearer first');
    await writeFile(join(directory, 'token'), 'second\n');
    await writeFile(join(directory, 'ca.crt'), 'PEM of another authority');
    expect(await authorization()).toBe('Bearer first');
    connection.discardCredentials();
    expect(await authorization()).toBe('Bearer second');
    expect((await connection.credentials()).tls.ca).toBe('PEM of another authority');
  });

  test('is refused outside a cluster, with a hint at what to configure instead', async () => {
    await expect(connectInCluster(undefined)).rejects.toThrow(/KUBERNETES_SERVICE_HOST is not set.*kubeconfigFile/);
    await expect(connectInCluster(address, join(directory, 'nowhere'))).rejects.toThrow(/automountServiceAccountToken/);
  });
});

describe('a connection by a kubeconfig file', () => {
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'one' },
    clusters: [{ name: 'c', cluster: { server: 'https://kube.example:6443/', 'certificate-authority-data': 'UEVN' } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
    contexts: [{ name: 'one', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
  };

  test('uses the server, the CA, the token and the namespace of its context', async () => {
    const file = join(directory, 'config');
    await writeFile(file, JSON.stringify(config));
    const connection = await connectByKubeconfig(file);
    expect(connection).toMatchObject({ server: 'https://kube.example:6443', namespace: 'team' });
    const { tls, headers } = await connection.credentials();
    expect(headers['authorization']).toBe('Bearer secret');
    expect(String(tls.ca)).toBe('PEM');
  });

  test('reads its file again after it was refused, and follows a changed server', async () => {
    const file = join(directory, 'config');
    await writeFile(file, JSON.stringify(config));
    const connection = await connectByKubeconfig(file);
    const other = { ...config, clusters: [{ name: 'c', cluster: { server: 'https://other.example' } }] };
    await writeFile(file, JSON.stringify({ ...other, users: [{ name: 'u', user: { token: 'new' } }] }));
    expect((await connection.credentials()).headers['authorization']).toBe('Bearer secret');
    connection.discardCredentials();
    expect((await connection.credentials()).headers['authorization']).toBe('Bearer new');
    expect(connection.server).toBe('https://other.example');
    await rm(file);
    connection.discardCredentials();
    await expect(connection.credentials()).rejects.toThrow(/config cannot be read: ENOENT/);
  });

  test('is refused with the names of the known contexts or the reason why the file cannot be read', async () => {
    const file = join(directory, 'config');
    await writeFile(file, JSON.stringify(config));
    await expect(connectByKubeconfig(file, 'two')).rejects.toThrow(`${file} has no context two; it has one`);
    await expect(connectByKubeconfig(join(directory, 'none'))).rejects.toThrow(/none cannot be read: ENOENT/);
  });
});
