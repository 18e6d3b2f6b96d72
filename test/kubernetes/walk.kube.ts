import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { asObjectOrEmpty } from '../../src/lib/json.ts';
import { render } from '../charts/render.ts';
import { runHere } from '../cli/collect.ts';
import { root } from '../docs/pages.ts';
import { exampleFolder } from '../examples/cluster-examples.ts';
import { conditionsAt, installDefinitions } from './definitions.ts';
import { openMesh } from './mesh.ts';
import { type ApiServer, startApiServer } from './server.ts';

let cluster: ApiServer;
let client: Client;

// Uses a separate API server: the examples have a fixed namespace, in which plans of other tests would wait too.
beforeAll(async () => {
  cluster = await startApiServer();
  client = createClient({ connection: await connectByKubeconfig(cluster.kubeconfig), fieldManager: 'test' });
  await installDefinitions(client);
  const roles = (await render({ chart: 'charts/heddle-crds' })).filter(({ kind }) => kind === 'ClusterRole');
  for (const role of roles) {
    // The rendered role contains only JSON values.
    const manifest = JSON.parse(JSON.stringify(role));
    await client.apply(`/apis/rbac.authorization.k8s.io/v1/clusterroles/${role.metadata.name}`, manifest);
  }
});

afterAll(async () => {
  client.close();
  await cluster[Symbol.asyncDispose]();
});

const at = (plural: string, name: string) => `/apis/heddle.dev/v1/namespaces/team-a/${plural}/${name}`;
const policy = at('policies', 'team-a-developers-to-web');
const apply = 'kubectl apply --server-side --force-conflicts -k examples/kubernetes';
const kinds = 'hgrp,hpol,hkey,hnet,hres,hrtr';
const waitReady = `kubectl --namespace team-a wait --for=condition=Ready --timeout=2m --all ${kinds}`;

interface Peer {
  readonly hostname: string;
  readonly groups: readonly { readonly name: string }[];
}

interface Policy {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly { readonly ports?: readonly string[] }[];
}

test('a team states its part of the mesh, its pods enrol, and mistakes, deletions and rollbacks are handled', async () => {
  const { kubernetes } = parse(await readFile(`${exampleFolder}values.yaml`, 'utf8'));
  const { enabled: _, ...settings } = kubernetes;
  const source = { name: 'k8s', type: 'kubernetes', kubeconfigFile: cluster.kubeconfig, ...settings };
  const mesh = await openMesh(cluster.kubeconfig, [source], {}, { HEDDLE_PUBLIC_URL: 'https://mesh.example.com' });
  const { shell, directory, server } = mesh;
  await cp(join(root, 'examples/kubernetes'), join(directory, 'examples/kubernetes'), { recursive: true });
  const file = join(directory, 'examples/kubernetes/team-a/access.yaml');
  const first = await readFile(file, 'utf8');
  /** Applies the examples, with `text` as the file of policies. */
  const applyWith = async (text: string) => {
    await writeFile(file, text);
    return shell.run(apply);
  };
  const policies = async () =>
    (await mesh.get<readonly Policy[]>('/api/policies')).filter(({ name }) => name.includes('team A'));
  const portsOf = async () => (await policies()).map(({ rules }) => rules.map(({ ports = [] }) => ports.toSorted()));

  expect(await shell.run(apply)).not.toMatch(/error|Warning/i);
  const ready = await shell.run(waitReady);
  expect(ready.split('\n').filter((line) => !line.endsWith('condition met'))).toEqual([]);
  expect(ready.split('\n')).toHaveLength(10);
  const before = await mesh.ids();

  // Simulates the pods: does what the Deployments do with the Secrets.
  const names = { web: ['web-1', 'web-2'], gateways: ['gateway-1', 'gateway-2'] };
  const stops: (() => void)[] = [];
  const running = Object.entries(names).map(async ([name, hosts]) => {
    const { data } = await client.get(`/api/v1/namespaces/team-a/secrets/team-a-${name}-setup-key`);
    const text = (key: string) => Buffer.from(String(asObjectOrEmpty(data)[key]), 'base64').toString();
    expect(text('management_url')).toBe('https://mesh.example.com');
    const argv = ['agent', 'simulate', '--setup-key', text('key'), '--name', hosts.join(','), '--server', server.url];
    const onInterrupt = (listener: () => void) => {
      stops.push(listener);
      return () => undefined;
    };
    return runHere(argv, {}, { onInterrupt });
  });
  const peers = async () =>
    (await mesh.get<readonly Peer[]>('/api/peers')).map(({ hostname, groups }) => [
      hostname,
      groups.map(({ name }) => name).filter((name) => name !== 'All'),
    ]);
  await expect
    .poll(async () => Object.fromEntries(await peers()))
    .toEqual({
      'web-1': ['Web servers of team A'],
      'web-2': ['Web servers of team A'],
      'gateway-1': ['Routing peers of team A'],
      'gateway-2': ['Routing peers of team A'],
    });

  // A faulty policy is held back with a reason, and the account stays unchanged.
  const stated = await portsOf();
  await applyWith(first.replace('sources: [team-a-developers]', 'sources: [team-a-developer]'));
  await expect.poll(() => conditionsAt(client, policy)).toMatchObject({ Ready: 'False', Reconciling: 'True' });
  expect((await client.get(policy)).status).toMatchObject({
    problems: [{ code: 'reference_unknown', message: expect.stringContaining('did you mean `team-a-developers`?') }],
  });
  expect(await portsOf()).toEqual(stated);

  // The policy is fixed and changed, then the first version is applied again.
  await applyWith(first.replace('["443", "8443"]', '["8443"]'));
  expect(await shell.run(waitReady)).not.toContain('error');
  expect(await portsOf()).toEqual([[['8443'], ['5432']]]);
  await applyWith(first);
  expect(await shell.run(waitReady)).not.toContain('error');
  expect(await portsOf()).toEqual(stated);
  expect(await mesh.ids()).toEqual(expect.objectContaining(before));

  // More deletions than the limit permits wait for an approval, which only the approvers may give.
  const gone = ['hpol/team-a-developers-to-web', 'hres/team-a-database', 'hrtr/team-a-gateways', 'hnet/team-a-cluster'];
  await shell.run(`kubectl --namespace team-a delete ${gone.join(' ')}`);
  const plans = async () => (await client.list('/apis/heddle.dev/v1/namespaces/team-a/plans')).items;
  await expect
    .poll(async () => (await plans()).map(({ status }) => asObjectOrEmpty(asObjectOrEmpty(status)['counts'])['delete']))
    .toEqual([4]);
  expect(await mesh.ids()).toEqual(expect.objectContaining(before));
  const [plan] = await plans();
  const { digest } = asObjectOrEmpty(plan?.status);
  const approve = (group: string) =>
    shell.run(
      `kubectl --as ana --as-group ${group} --namespace team-a patch hplan ${plan?.metadata.name} --type merge ` +
        `--patch '{"spec":{"approvedDigest":"${digest}","approvedBy":"ana"}}'`,
    );
  expect(await approve('team-a-developers')).toContain('forbidden');
  expect(await approve('mesh-approvers')).toContain('patched');
  await expect.poll(async () => 'Network/team-a-cluster' in (await mesh.ids())).toBe(false);
  await expect.poll(plans).toEqual([]);
  expect(await policies()).toEqual([]);

  for (const stop of stops) stop();
  expect((await Promise.all(running)).map(({ code }) => code)).toEqual([0, 0]);
});
