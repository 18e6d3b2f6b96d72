import { expect, test } from 'vitest';
import { documentKinds } from '../model/product.ts';
import { helm } from './helm.ts';
import { typeFaults } from './kubernetes-types.ts';
import { at, only, refusal, render } from './render.ts';

const chart = 'charts/heddle-crds';
const isCrd = ({ kind }: { readonly kind: string }) => kind === 'CustomResourceDefinition';
const kubernetes = (version: string) => ['--kube-version', version];

test('the chart of the CRDs passes the strict lint of helm', async () => {
  expect(await helm(['lint', chart, '--strict'])).toMatchObject({ code: 0 });
});

test('the chart of the CRDs has one for every kind with documents, and uninstalling leaves them (E73)', async () => {
  const manifests = (await render({ chart })).filter(isCrd);
  const kinds = manifests.map((manifest) => String(at(manifest, 'spec.names.kind')));
  expect(kinds.sort()).toEqual(documentKinds.map(({ name }) => name).sort());
  const annotations = new Set(manifests.map(({ metadata }) => JSON.stringify(metadata.annotations)));
  expect(annotations).toEqual(new Set(['{"helm.sh/resource-policy":"keep"}']));
});

test('requests that would drop unknown fields without a word are warned of and recorded', async () => {
  const manifests = (await render({ chart })).filter((manifest) => !isCrd(manifest));
  const policy = only(manifests, 'ValidatingAdmissionPolicy');
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding');
  // The published types of the policy itself lack what its rules inherit.
  expect(typeFaults([binding])).toBe('');
  expect(at(policy, 'spec.matchConstraints.resourceRules.0')).toEqual({
    apiGroups: ['heddle.dev'],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['*'],
  });
  expect(binding['spec']).toEqual({ policyName: policy.metadata.name, validationActions: ['Warn', 'Audit'] });
});

test('such requests are refused where a value says so', async () => {
  const manifests = await render({ chart, over: { unknownFields: ['Deny'] } });
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding');
  expect(at(binding, 'spec.validationActions')).toEqual(['Deny']);
});

test.each([
  ['a value says so', { chart, over: { unknownFields: [] } }],
  ['Kubernetes has no admission policies', { chart, args: kubernetes('1.29.3') }],
])('there is no admission policy when %s', async (_, options) => {
  expect((await render(options)).every(isCrd)).toBe(true);
});

test('refusing needs a Kubernetes that can', async () => {
  const said = await refusal({ chart, over: { unknownFields: ['Deny'] }, args: kubernetes('1.29.3') });
  expect(said).toContain('upgrade the cluster, or set unknownFields to []');
});

test.each([
  ['a value that it does not know', { keep: false }, "additional properties 'keep' not allowed"],
  ['an action that Kubernetes does not know', { unknownFields: ['Refuse'] }, '/unknownFields/0'],
  ['two actions that exclude each other', { unknownFields: ['Deny', 'Warn'] }, '/unknownFields'],
])('the chart of the CRDs refuses %s', async (_, over, says) => {
  expect(await refusal({ chart, over })).toContain(says);
});
