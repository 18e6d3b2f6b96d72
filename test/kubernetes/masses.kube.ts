import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { asObject } from '../../src/lib/json.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { crowdOf } from './crowd.ts';
import { installDefinitions } from './definitions.ts';

let client: Client;

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(() => client.close());

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `g${index}`);
const patience = { timeout: 150_000, interval: 1000 };

// The API server deletes a collection one by one. On a slow one the deletions span several reconciles.
test('of 2,000 resources deleted together, at most a fifth is deleted without an approval, and the rest waits', async () => {
  const names = numbered(2000);
  const crowd = crowdOf(client, 'crowd');
  await crowd.begin();
  const office = await openSampleAccount();
  await crowd.putAll(names);
  office.run([], {
    clusters: [{ name: 'k8s', kubeconfigFile: inject('kubeconfig'), namespaces: [{ names: ['crowd'] }] }],
  });
  await expect.poll(async () => (await office.groups()).length, patience).toBe(2000);
  await client.delete('/apis/heddle.dev/v1/namespaces/crowd/groups');
  await expect.poll(async () => (await office.statusOf('k8s.crowd')).state, patience).toBe('needs_approval');
  await expect
    .poll(async () => {
      const deletes = (await client.list('/apis/heddle.dev/v1/namespaces/crowd/plans')).items.map(
        ({ status }) => asObject(asObject(status ?? {})['counts'] ?? {})['delete'],
      );
      return { deletes, left: (await office.groups()).length };
    }, patience)
    .toSatisfy(({ deletes, left }) => deletes.length === 1 && deletes[0] === left);
  expect((await office.groups()).length).toBeGreaterThanOrEqual(1600);
  expect((await office.statusOf('k8s.crowd')).state).toBe('needs_approval');
});
