import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { startReflector } from '../../src/kubernetes/reflector.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';

const groups = '/apis/heddle.dev/v1/groups';
let client: Client;
let names: readonly string[];

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'heddle' });
  names = await installDefinitions(client);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'reflected' } };
  await client.apply('/api/v1/namespaces/reflected', namespace);
});

afterAll(() => client.close());

const at = (name: string) => `/apis/heddle.dev/v1/namespaces/reflected/groups/${name}`;

function group(name: string, labels: Readonly<Record<string, string>> = {}) {
  return { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name, labels }, spec: {} };
}

describe('the Kubernetes client on a real API server', () => {
  test('installs every CRD, each with a structural schema', async () => {
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) {
      const conditions = await conditionsAt(client, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
      expect(conditions, name).not.toHaveProperty('NonStructuralSchema');
    }
  });

  test('observes existing resources and changes through a reflector', async () => {
    await client.apply(at('before'), group('before'));
    const seen: string[] = [];
    const reflector = startReflector({
      client,
      path: groups,
      onChange({ before, after }) {
        const { namespace, name } = (after ?? before)?.metadata ?? {};
        // Other tests create groups on the same API server.
        if (namespace === 'reflected')
          seen.push(`${before === undefined ? '+' : after === undefined ? '-' : '~'} ${name}`);
      },
      onState: () => undefined,
      onError: (error) => seen.push(String(error)),
    });
    await expect.poll(() => reflector.state.state).toBe('synced');
    await client.apply(at('after'), group('after'));
    await client.patch(at('before'), { metadata: { labels: { team: 'x' } } });
    await client.delete(at('after'));
    await expect.poll(() => seen).toEqual(['+ before', '+ after', '~ before', '- after']);
    expect(reflector.objects.get('reflected/before')?.metadata.labels).toEqual({ team: 'x' });
    await reflector.stop();
  });

  test('reports a refusal with the status and the reason of the API server', async () => {
    await expect(client.get(at('nothing'))).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
    const wrong = { ...group('wrong'), spec: { name: 5 } };
    await expect(client.create(at('').slice(0, -1), wrong)).rejects.toMatchObject({ status: 422, reason: 'Invalid' });
  });
});
