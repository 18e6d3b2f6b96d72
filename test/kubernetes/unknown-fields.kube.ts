import { once } from 'node:events';
import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Client, createClient } from '../../src/kubernetes/client.ts';
import { type Connection, connectByKubeconfig } from '../../src/kubernetes/connection.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { render } from '../charts/render.ts';

const groups = '/apis/heddle.dev/v1/namespaces/strict/groups';
let connection: Connection;
let client: Client;

/** The chart of the CRDs, with the policy bound to a namespace of this test: others share the API server. */
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
  for (const manifest of await render({ chart: 'charts/heddle-crds', over: { unknownFields: ['Deny'] }, args })) {
    const object = JSON.parse(JSON.stringify(manifest));
    if (manifest.kind.endsWith('Binding')) object.spec.matchResources = { namespaceSelector };
    await client.apply(`${paths[manifest.kind]}/${manifest.metadata.name}`, object);
  }
  await client.apply('/api/v1/namespaces/strict', {
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict' } },
  });
});

/** The policy holds a while after it is there. */
const isHeld = () => expect.poll(() => send('POST', '?dryRun=All', group('probe', {})), { timeout: 30_000 }).toBe(422);

afterAll(() => client.close());

const group = (name: string, spec: JsonObject) => ({
  ...{ apiVersion: 'heddle.dev/v1', kind: 'Group' },
  ...{ metadata: { name }, spec },
});

/** The status of the answer to a request as the clients send it that people use. */
async function send(method: string, path: string, body: object, type = 'application/json'): Promise<number> {
  const { tls, headers } = await connection.credentials();
  const options = { ...tls, method, headers: { ...headers, 'content-type': type } };
  const sent = request(`${connection.server}${groups}${path}`, options);
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  await textOf(response);
  return Number(response.statusCode);
}

const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';

test('requests that would drop unknown fields without a word are refused, and others are not', async () => {
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

test('server-side apply is never concerned: it refuses unknown fields by itself', async () => {
  await isHeld();
  const answers = [
    await send('PATCH', '/applied?fieldManager=flux', group('applied', { name: 'A' }), apply),
    await send('PATCH', '/applied?fieldManager=flux', group('applied', { name: 'B' }), apply),
    await send('PATCH', '/applied?fieldManager=argo&force=true', group('applied', { name: 'C' }), apply),
    // What its manager writes otherwise counts as that.
    await send('PATCH', '/applied?fieldManager=flux', { spec: { name: 'D' } }, merge),
    await send('PATCH', '/applied?fieldManager=flux&fieldValidation=Strict', { spec: { name: 'D' } }, merge),
    await send('PATCH', '/applied?fieldManager=flux&force=true', group('applied', { name: 'E' }), apply),
  ];
  expect(answers).toEqual([201, 200, 200, 422, 200, 200]);
  const typo = await send('PATCH', '/typo?fieldManager=flux', group('typo', { nam: 'A' }), apply);
  expect(typo).toBeGreaterThanOrEqual(400);
});

test('the status can be written', async () => {
  await client.apply(`${groups}/written`, group('written', {}));
  const status = {
    ...group('written', {}),
    status: { id: 'x', source: 'k8s.strict', problems: [{ code: 'a', message: 'b' }] },
  };
  const answer = await send('PATCH', '/written/status?fieldManager=heddle&force=true', status, apply);
  expect(answer).toBe(200);
});
