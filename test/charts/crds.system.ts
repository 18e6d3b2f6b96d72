import { expect, test } from 'vitest';
import { pluralOf } from '../../src/model/lower/crd/names.ts';
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

test('the chart of the CRDs has one for every kind with documents and for sources and plans, and uninstalling leaves them (E73)', async () => {
  const manifests = (await render({ chart })).filter(isCrd);
  const kinds = manifests.map((manifest) => String(at(manifest, 'spec.names.kind')));
  expect(kinds.sort()).toEqual([...documentKinds.map(({ name }) => name), 'Plan', 'Source'].sort());
  const annotations = new Set(manifests.map(({ metadata }) => JSON.stringify(metadata.annotations)));
  expect(annotations).toEqual(new Set(['{"helm.sh/resource-policy":"keep"}']));
});

test('requests that would drop unknown fields without a word are warned of and recorded', async () => {
  const manifests = await render({ chart });
  const policy = only(manifests, 'ValidatingAdmissionPolicy', 'unknown-fields');
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding', 'unknown-fields');
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
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding', 'unknown-fields');
  expect(at(binding, 'spec.validationActions')).toEqual(['Deny']);
});

test('who approves a plan has to give the own name, unless a value says otherwise', async () => {
  const manifests = await render({ chart });
  const policy = only(manifests, 'ValidatingAdmissionPolicy', 'approved-by');
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding', 'approved-by');
  expect(at(policy, 'spec.matchConstraints.resourceRules.0.resources')).toEqual(['plans']);
  expect(binding['spec']).toEqual({ policyName: policy.metadata.name, validationActions: ['Deny'] });
  const without = await render({ chart, over: { approvedBy: [] } });
  expect(without.filter(({ metadata }) => metadata.name === 'heddle-approved-by')).toEqual([]);
});

test('tools that can send no other requests may be excepted by their field manager', async () => {
  const conditions = async (over: object) =>
    at(only(await render({ chart, over }), 'ValidatingAdmissionPolicy', '-unknown-fields'), 'spec.matchConditions');
  expect(await conditions({})).toBeUndefined();
  expect(await conditions({ unknownFieldsExcept: ['helm', 'argocd-controller'] })).toEqual([
    {
      name: 'other-managers',
      expression: `!(request.options.?fieldManager.orValue('') in ["helm","argocd-controller"])`,
    },
  ]);
});

test.each([
  ['values say so', { chart, over: { unknownFields: [], approvedBy: [] } }],
  ['Kubernetes has none', { chart, over: { approvedBy: ['Audit'] }, args: kubernetes('1.29.3') }],
])('there is no admission policy when %s', async (_, options) => {
  const kinds = (await render(options)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith('ValidatingAdmission'))).toEqual([]);
});

test.each(['unknownFields', 'approvedBy'])('refusing needs a Kubernetes that can (%s)', async (value) => {
  const over = { unknownFields: [], approvedBy: [], [value]: ['Deny'] };
  const said = await refusal({ chart, over, args: kubernetes('1.29.3') });
  expect(said).toMatch(new RegExp(`upgrade the cluster, or set ${value} to \\[\\]`));
});

test('an author may change every document and no plan, an approver plans and no document', async () => {
  const manifests = await render({ chart });
  const changing = (role: string) =>
    (at(only(manifests, 'ClusterRole', role), 'rules') as readonly { verbs: string[]; resources: string[] }[])
      .filter(({ verbs }) => verbs.includes('patch'))
      .flatMap(({ resources }) => resources)
      .sort();
  const plurals = documentKinds.map(({ name }) => pluralOf(name));
  expect(changing('author')).toEqual([...plurals, 'sources'].sort());
  expect(changing('approver')).toEqual(['plans']);
  expect(changing('viewer')).toEqual([]);
  expect(typeFaults(manifests.filter(({ kind }) => kind === 'ClusterRole'))).toBe('');
});

test('a user who may view or edit a namespace has the roles there where a value says so, and nobody approves by that', async () => {
  const labelled = async (aggregate: boolean) =>
    (await render({ chart, over: { roles: { aggregate } } }))
      .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.labels !== undefined)
      .map(({ metadata }) => metadata.name)
      .sort();
  expect(await labelled(false)).toEqual([]);
  expect(await labelled(true)).toEqual(['heddle-author', 'heddle-viewer']);
  expect(
    (await render({ chart, over: { roles: { create: false } } })).filter(({ kind }) => kind === 'ClusterRole'),
  ).toEqual([]);
});

test.each([
  ['a value that it does not know', { keep: false }, "additional properties 'keep' not allowed"],
  ['an action that Kubernetes does not know', { unknownFields: ['Refuse'] }, '/unknownFields/0'],
  ['two actions that exclude each other', { unknownFields: ['Deny', 'Warn'] }, '/unknownFields'],
])('the chart of the CRDs refuses %s', async (_, over, says) => {
  expect(await refusal({ chart, over })).toContain(says);
});
