import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { asObject, asObjects } from '../../src/lib/json.ts';
import { openSampleAccount } from '../sources/office-source.ts';
import { crowdOf } from './crowd.ts';
import { installDefinitions } from './definitions.ts';

let client: Client;

beforeAll(async () => {
  client = createClient({ connection: await connectByKubeconfig(inject('kubeconfig')), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(() => client.close());

const hour = 3_600_000;

test.each([
  ['ahead', 5 * hour],
  ['behind', -5 * hour],
])('a server with its clock five hours %s reads, reports, guards and approves', async (namespace, skew) => {
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true, now: Date.now() + skew });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const crowd = crowdOf(client, namespace);
  await crowd.begin();
  const office = await openSampleAccount();
  const namespaces = [{ names: [namespace], limits: { deletes: 2 } }];
  office.run([], { clusters: [{ name: 'k8s', kubeconfigFile: inject('kubeconfig'), namespaces }] });
  const mismatches = () => crowd.mismatches(office.engine, office.account);
  await crowd.putAll(['a', 'b', 'c', 'd', 'e', 'f']);
  await expect.poll(mismatches).toEqual([]);
  await crowd.put('a', { name: 'again' });
  await expect.poll(mismatches).toEqual([]);
  // A policy that refers to a group created a little later must wait for that group, but not for hours.
  const path = `/apis/heddle.dev/v1/namespaces/${namespace}`;
  const rule = { name: 'main', action: 'accept', protocol: 'all', sources: ['a'], destinations: ['late'] };
  const policy = { apiVersion: 'heddle.dev/v1', kind: 'Policy', metadata: { name: 'p' }, spec: { rules: [rule] } };
  await client.apply(`${path}/policies/p`, policy);
  const policies = async () => (await office.engine.snapshots.fresh(office.account)).findByKey('Policy', 'p')?.key;
  await crowd.put('late');
  await expect.poll(policies).toBe('p');
  // Deletions of the last hour count towards the limit: two are permitted, and more deletions wait for an approval.
  await crowd.remove(['b']);
  await expect.poll(office.groups).not.toContain('b');
  await crowd.remove(['c', 'd', 'e']);
  const plans = async () => (await client.list(`${path}/plans`)).items.filter(({ status }) => status !== undefined);
  await expect.poll(async () => (await plans()).length).toBe(1);
  const [plan] = await plans();
  const { digest, conditions } = asObject(plan?.status ?? {});
  expect(asObjects(conditions)).toMatchObject([{ type: 'Approved', status: 'False', reason: 'NeedsApproval' }]);
  await client.patch(`${path}/plans/${plan?.metadata.name}`, { spec: { approvedDigest: String(digest) } });
  await expect.poll(office.groups).toEqual(['a', 'f', 'late']);
  await expect.poll(plans).toEqual([]);
  await expect.poll(mismatches).toEqual([]);
});
