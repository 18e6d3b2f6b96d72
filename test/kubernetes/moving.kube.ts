import { copyFile, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import { root } from '../docs/pages.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { installDefinitions } from './definitions.ts';
import { followSection, openMesh } from './mesh.ts';
import { type ApiServer, startApiServer } from './server.ts';

let cluster: ApiServer;
let client: Client;
const page = 'docs/kubernetes/moving.md';

// Uses a separate API server: these tests create the namespaces that the page names.
beforeAll(async () => {
  cluster = await startApiServer();
  client = createClient({ connection: await connectByKubeconfig(cluster.kubeconfig), fieldManager: 'test' });
  await installDefinitions(client);
});

afterAll(async () => {
  client.close();
  await cluster[Symbol.asyncDispose]();
});

async function quickstart(): Promise<Readonly<Record<string, string>>> {
  const names = ['account', 'dns', 'groups', 'policies', 'routes'];
  const texts = names.map(async (name) => {
    const text = await readFile(join(root, `examples/quickstart/${name}.yaml`), 'utf8');
    return [`office/${name}.yaml`, text] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

test('objects keep their ids when they are moved from files to resources and back', async () => {
  const namespaces = [{ names: ['team-a'] }];
  const mesh = await openMesh(
    cluster.kubeconfig,
    [
      { name: 'office', type: 'directory', path: './office' },
      { name: 'k8s', type: 'kubernetes', kubeconfigFile: cluster.kubeconfig, namespaces },
    ],
    await quickstart(),
  );
  await mesh.server.line(/source office: .* documents, revision/);
  const before = await mesh.ids();
  expect(await followSection(page, 'Moving from files to resources', mesh.shell)).toEqual([]);
  expect(await mesh.ids()).toEqual(before);
  await mesh.shell.run('kubectl delete --namespace team-a policy staff-to-web');
  await expect.poll(async () => 'Policy/staff-to-web' in (await mesh.ids())).toBe(false);
  const { 'Policy/staff-to-web': _, ...kept } = before;
  await mesh.shell.run('rm -r office/*');
  expect(await followSection(page, 'Moving from resources to files', mesh.shell)).toEqual([]);
  expect(await mesh.ids()).toEqual(kept);
  expect(await mesh.shell.run('npx heddle sources office')).toMatch(/Ready +True/);
});

test('a rebuilt cluster continues with the objects of the former one, and nothing is deleted meanwhile', async () => {
  const folder = await temporaryDirectory();
  const kubeconfig = join(folder, 'kubeconfig');
  const former = await startApiServer();
  await using _ = former;
  await copyFile(former.kubeconfig, kubeconfig);
  const namespaces = [{ names: ['team-a'] }];
  const mesh = await openMesh(kubeconfig, [
    { name: 'k8s', type: 'kubernetes', kubeconfigFile: kubeconfig, namespaces },
  ]);
  const { shell } = mesh;
  const groups = ['a', 'b', 'c'].map(
    (name) => `apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: ${name}, namespace: team-a}\n`,
  );
  await writeFile(join(mesh.directory, 'team-a.yaml'), groups.join('---\n'));
  await cp(join(root, 'crds'), join(mesh.directory, 'crds'), { recursive: true });
  await shell.run('kubectl apply --server-side --filename crds; kubectl create namespace team-a');
  await shell.run('kubectl wait --for=condition=Established --filename crds');
  await shell.run('kubectl apply --server-side --filename team-a.yaml');
  await shell.run('kubectl wait --for=condition=Ready --timeout=2m --filename team-a.yaml');
  const before = await mesh.ids();
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['Group/a', 'Group/b', 'Group/c']));
  await former.stop('SIGKILL');
  await using next = await startApiServer();
  await copyFile(next.kubeconfig, kubeconfig);
  const message = () => shell.run('npx heddle sources k8s.team-a');
  await expect.poll(message).toContain('the namespace team-a does not exist any more');
  await writeFile(join(mesh.directory, 'one.yaml'), groups[0] ?? '');
  await shell.run('kubectl apply --server-side --filename crds; kubectl create namespace team-a');
  await shell.run('kubectl wait --for=condition=Established --filename crds');
  await shell.run('kubectl apply --server-side --filename one.yaml');
  await expect.poll(message).toContain('was deleted and created again');
  expect(await mesh.ids()).toEqual(before);
  expect(await followSection(page, 'Rebuilding a cluster', shell)).toEqual([]);
  expect(await message()).toMatch(/Ready +True/);
  expect(await mesh.ids()).toEqual(before);
});

test('the rights that the docs give a server of another cluster suffice to read resources, and do not include Secrets', async () => {
  const elsewhere = await openMesh(cluster.kubeconfig, []);
  const { shell, directory } = elsewhere;
  await cp(join(root, 'charts'), join(directory, 'charts'), { recursive: true });
  const namespaces = [{ names: ['lisbon-team'] }];
  const values = { database: { existingSecret: 'db' }, kubernetes: { enabled: true, namespaces } };
  await writeFile(join(directory, 'lisbon.yaml'), stringify(values));
  expect(await followSection(page, 'Several clusters', shell)).toEqual([]);
  const kubeconfigFile = join(directory, 'lisbon');
  const mesh = await openMesh(cluster.kubeconfig, [{ name: 'lisbon', type: 'kubernetes', kubeconfigFile, namespaces }]);
  const group = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: shared, namespace: lisbon-team}\n';
  await writeFile(join(mesh.directory, 'group.yaml'), group);
  await mesh.shell.run('kubectl create namespace lisbon-team; kubectl apply --filename group.yaml');
  expect(await mesh.shell.run('kubectl wait --for=condition=Ready --timeout=2m --filename group.yaml')).toContain(
    'met',
  );
  expect(await shell.run('kubectl --kubeconfig lisbon get secrets')).toContain('forbidden');
});
