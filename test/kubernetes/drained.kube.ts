import { afterAll, beforeAll, expect, inject, test } from 'vitest';
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

const path = '/apis/heddle.dev/v1/namespaces/drained';
const names = Array.from({ length: 25 }, (_, index) => `p${index}`);
const rule = { name: 'main', action: 'accept', protocol: 'all', sources: ['devs'], destinations: ['devs'] };

const statusAt = async (at: string) => asObject((await client.get(at)).status ?? {});
const plans = async () => (await client.list(`${path}/plans`)).items;

async function condition(type: string) {
  const { conditions = [] } = await statusAt(`${path}/sources/k8s`);
  return asObjects(conditions).find((one) => one['type'] === type);
}

test('of 25 policies deleted one by one, those after the fifth wait for an approval, and the source reports the reason', async () => {
  const crowd = crowdOf(client, 'drained');
  await crowd.begin();
  const office = await openSampleAccount();
  const namespaces = [{ names: ['drained'] }];
  office.run([], { clusters: [{ name: 'k8s', kubeconfigFile: inject('kubeconfig'), namespaces }] });
  const policies = async () => {
    const state = await office.engine.snapshots.fresh(office.account);
    return state.ofKind('Policy').flatMap(({ key }) => key ?? []);
  };
  await crowd.put('devs');
  for (const name of names) {
    const spec = { rules: [rule] };
    const metadata = { name };
    await client.apply(`${path}/policies/${name}`, { apiVersion: 'heddle.dev/v1', kind: 'Policy', metadata, spec });
  }
  await expect.poll(async () => (await policies()).length).toBe(25);
  for (const [at, name] of names.slice(0, 5).entries()) {
    await client.delete(`${path}/policies/${name}`);
    await expect.poll(async () => (await policies()).length).toBe(24 - at);
  }
  await client.delete(`${path}/policies/p5`);
  await expect
    .poll(() => condition('GuardTripped'))
    .toMatchObject({
      ...{ status: 'True', reason: 'NeedsApproval' },
      message: expect.stringContaining('deletes 1 object, after 5 in the last hour'),
    });
  expect((await office.statusOf('k8s.drained')).state).toBe('needs_approval');
  for (const name of names.slice(6)) await client.delete(`${path}/policies/${name}`);
  await expect
    .poll(async () => (await plans()).map(({ status }) => asObject(asObject(status ?? {})['counts'] ?? {})['delete']))
    .toEqual([20]);
  expect(await policies()).toHaveLength(20);
  const [plan] = await plans();
  const { digest } = asObject(plan?.status ?? {});
  await client.patch(`${path}/plans/${plan?.metadata.name}`, {
    spec: { approvedDigest: String(digest), approvedBy: 'admin' },
  });
  await expect.poll(policies).toEqual([]);
  await expect.poll(plans).toEqual([]);
  await expect.poll(() => condition('GuardTripped')).toMatchObject({ status: 'False' });
  expect(await office.groups()).toEqual(['devs']);
});
