import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { type Connection, connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { helm, kubectl } from '../charts/helm.ts';
import { render } from '../charts/render.ts';

const groups = '/apis/heddle.dev/v1/namespaces/strict/groups';
let connection: Connection;
let client: Client;

/**
 * Installs the chart of the CRDs, with the policy bound to a namespace of this test because other tests share the API
 * server.
 */
beforeAll(async () => {
  connection = await connectByKubeconfig(inject('kubeconfig'));
  client = createClient({ connection, fieldManager: 'heddle' });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'strict' } };
  const paths: Readonly<Record<string, string>> = {
    ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    ValidatingAdmissionPolicy: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    ValidatingAdmissionPolicyBinding: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
  };
  const args = ['--kube-version', '1.37.0'];
  const over = { unknownFields: ['Deny'], unknownFieldsExcept: ['helm-controller'], roles: { create: false } };
  for (const manifest of await render({ chart: 'charts/heddle-crds', over, args })) {
    const object = JSON.parse(JSON.stringify(manifest));
    if (manifest.kind.endsWith('Binding')) object.spec.matchResources = { namespaceSelector };
    await client.apply(`${paths[manifest.kind]}/${manifest.metadata.name}`, object);
  }
  await client.apply('/api/v1/namespaces/strict', {
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict' } },
  });
});

/** Waits until the policy is enforced, which happens some time after its creation. */
const isHeld = () => expect.poll(() => send('POST', '?dryRun=All', group('probe', {}))).toBe(422);

afterAll(() => client.close());

const group = (name: string, spec: JsonObject) => ({
  ...{ apiVersion: 'heddle.dev/v1', kind: 'Group' },
  ...{ metadata: { name }, spec },
});

/** Sends a request as common clients do, and returns the status of the response. */
async function send(method: string, path: string, body: object, type?: string): Promise<number> {
  return (await answer(method, path, body, type)).status;
}

async function answer(method: string, path: string, body: object, type = 'application/json') {
  const { tls, headers } = await connection.credentials();
  const options = { ...tls, method, headers: { ...headers, 'content-type': type } };
  const sent = request(`${connection.server}${groups}${path}`, options);
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  return { status: Number(response.statusCode), text: await textOf(response) };
}

/**
 * Returns the statuses of the responses to the requests that a tool sends for a new resource, then for a changed value
 * in it.
 */
async function statusesOf(name: string, tool: Tool): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const [method, path, spec, type] of tool(name)) {
    const body = method === 'PATCH' && type === merge ? { spec } : group(name, spec);
    statuses.push(await send(method, path, body, type));
  }
  return statuses;
}

type Tool = (name: string) => readonly (readonly [method: string, path: string, spec: JsonObject, type?: string])[];

const [first, second] = [{ name: 'A' }, { name: 'B' }];
/**
 * Creates the resource, then sends the patch that the tool has computed, as Helm 3 does, and Argo CD without
 * ServerSideApply=true.
 */
const byClient =
  (query: string): Tool =>
  (name) => [
    ['POST', `?${query}`, first],
    ['PATCH', `/${name}?${query}`, second, merge],
  ];
/** Sends the same request (server-side apply) for the creation and for the change, after a dry run of both. */
const byServer =
  (query: string): Tool =>
  (name) =>
    [`dryRun=All&${query}`, query].flatMap((asked) =>
      [first, second].map((spec) => ['PATCH', `/${name}?${asked}`, spec, apply] as const),
    );

const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';

test('requests that would silently drop unknown fields are refused, and others are accepted', async () => {
  await isHeld();
  const answers = {
    plain: await send('POST', '', group('plain', { name: 'A' })),
    strict: await send('POST', '?fieldValidation=Strict', group('made', { name: 'A' })),
    'strict with a typo': await send('POST', '?fieldValidation=Strict', group('typo', { nam: 'A' })),
    'a patch': await send('PATCH', '/made', { spec: { name: 'B' } }, merge),
    'a strict patch': await send('PATCH', '/made?fieldValidation=Strict', { spec: { name: 'B' } }, merge),
    'a patch of labels': await send('PATCH', '/made', { metadata: { labels: { team: 'a' } } }, merge),
  };
  expect(answers).toEqual({
    plain: 422,
    strict: 201,
    'strict with a typo': 400,
    'a patch': 422,
    'a strict patch': 200,
    'a patch of labels': 200,
  });
});

test('server-side apply is not affected, as it refuses unknown fields itself', async () => {
  await isHeld();
  const answers = [
    await send('PATCH', '/applied?fieldManager=flux', group('applied', { name: 'A' }), apply),
    await send('PATCH', '/applied?fieldManager=flux', group('applied', { name: 'B' }), apply),
    await send('PATCH', '/applied?fieldManager=argo&force=true', group('applied', { name: 'C' }), apply),
    // Merge patches under the field manager of a server-side apply are treated the same way.
    await send('PATCH', '/applied?fieldManager=flux', { spec: { name: 'D' } }, merge),
    await send('PATCH', '/applied?fieldManager=flux&fieldValidation=Strict', { spec: { name: 'D' } }, merge),
    await send('PATCH', '/applied?fieldManager=flux&force=true', group('applied', { name: 'E' }), apply),
  ];
  expect(answers).toEqual([201, 200, 200, 422, 200, 200]);
  const typo = await send('PATCH', '/typo?fieldManager=flux', group('typo', { nam: 'A' }), apply);
  expect(typo).toBeGreaterThanOrEqual(400);
});

test('the status of a resource can be written despite the policy', async () => {
  await client.apply(`${groups}/written`, group('written', {}));
  const status = {
    ...group('written', {}),
    status: { id: 'x', source: 'k8s.strict', problems: [{ code: 'a', message: 'b' }] },
  };
  const answer = await send('PATCH', '/written/status?fieldManager=heddle&force=true', status, apply);
  expect(answer).toBe(200);
});

test.each<[string, Tool, readonly number[]]>([
  ['Flux is never refused', byServer('fieldManager=kustomize-controller&force=true'), [201, 201, 201, 200]],
  ['Helm 4 is not', byServer('fieldManager=helm&fieldValidation=Strict&force=false'), [201, 201, 201, 200]],
  [
    'Argo CD with ServerSideApply=true is not',
    byServer('fieldManager=argocd-controller&force=true'),
    [201, 201, 201, 200],
  ],
  ['Argo CD without it is refused', byClient('fieldManager=argocd-controller'), [422, 404]],
  ['Helm 3 is refused', byClient('fieldManager=helm'), [422, 404]],
  ['Helm 3 in a controller that is excepted is not', byClient('fieldManager=helm-controller'), [201, 200]],
  ['kubectl apply is not', byClient('fieldManager=kubectl-client-side-apply&fieldValidation=Strict'), [201, 200]],
  [
    'kubectl apply --validate=false is refused',
    byClient('fieldManager=kubectl-client-side-apply&fieldValidation=Ignore'),
    [422, 404],
  ],
])('refused or not, by the requests that a tool sends: %s', async (title, tool, statuses) => {
  await isHeld();
  expect(await statusesOf(title.toLowerCase().replaceAll(/[^a-z\d]+/g, '-'), tool)).toEqual(statuses);
});

test('a refusal names the field manager that can be excepted', async () => {
  await isHeld();
  const { text } = await answer('POST', '?fieldManager=helm', group('named', first));
  expect(JSON.parse(text).message).toMatch(/or use server-side apply \(this is the field manager helm\)$/);
});

describe('tools that write resources', () => {
  let folder: string;
  const file = () => join(folder, 'group.yaml');
  const inStrict = ['--namespace', 'strict'];
  const run = (...args: readonly string[]) => kubectl([...args, ...inStrict], inject('kubeconfig'));
  const write = (name: string, spec: JsonObject) => writeFile(file(), JSON.stringify(group(name, spec)));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heddle-tools-'));
    await mkdir(join(folder, 'chart/templates'), { recursive: true });
    await writeFile(join(folder, 'chart/Chart.yaml'), 'apiVersion: v2\nname: groups\nversion: 1.0.0\n');
    await writeFile(
      join(folder, 'chart/templates/group.yaml'),
      `${JSON.stringify(group('NAME', {})).replace('"NAME"', '{{ .Release.Name }}').replace('"spec":{}', '"spec":{{ toJson .Values.spec }}')}\n`,
    );
  });

  afterAll(() => rm(folder, { recursive: true }));

  test.each<[string, readonly string[]]>([
    ['kubectl-apply', ['apply']],
    ['kubectl-server-side', ['apply', '--server-side']],
    ['kubectl-replace', ['replace', '--force']],
  ])('%s is not refused, and reports a mistyped field', async (name, command) => {
    await isHeld();
    for (const spec of [first, second]) {
      await write(name, spec);
      await run(...command, '--filename', file());
    }
    await write(name, { nam: 'C' });
    await expect(run(...command, '--filename', file())).rejects.toThrow(/spec\.nam\b/);
  });

  test('kubectl patch and kubectl apply --validate=false are refused', async () => {
    await isHeld();
    await write('kubectl-patch', first);
    await run('create', '--filename', file());
    const patch = ['patch', 'groups.heddle.dev', 'kubectl-patch', '--type=merge', '--patch', '{"spec":{"nam":"B"}}'];
    // The patch changes nothing: the unknown field is dropped, and all other fields stay.
    await run(...patch);
    await expect(run(...patch.with(-1, '{"spec":{"name":"B"}}'))).rejects.toThrow(/use server-side apply/);
    await write('kubectl-careless', first);
    await expect(run('apply', '--validate=false', '--filename', file())).rejects.toThrow(/use server-side apply/);
  });

  test('helm is not refused when the API server merges, and reports a mistyped field', async () => {
    await isHeld();
    const call = (what: string, spec: JsonObject, ...flags: readonly string[]) =>
      helm(
        [what, 'helm', join(folder, 'chart'), ...inStrict, '--set-json', `spec=${JSON.stringify(spec)}`, ...flags],
        inject('kubeconfig'),
      );
    expect(await call('install', first)).toMatchObject({ code: 0 });
    expect(await call('upgrade', second)).toMatchObject({ code: 0 });
    expect((await call('upgrade', { nam: 'C' })).err).toMatch(/spec\.nam\b/);
    expect((await call('upgrade', { name: 'C' }, '--server-side=false')).err).toContain('use server-side apply');
  });
});
