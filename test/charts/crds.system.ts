import { expect, test } from 'vitest';
import { pluralOf } from '../../src/model/lower/crd/names.ts';
import { documentKinds } from '../model/product.ts';
import { helm } from './helm.ts';
import { typeFaults } from './kubernetes-types.ts';
import { at, only, refusal, render } from './render.ts';

const chart = 'charts/heddle-crds';
const isCrd = ({ kind }: { readonly kind: string }) => kind === 'CustomResourceDefinition';
const kubernetes = (version: string) => ['--kube-version', version];

test('the CRD chart passes `helm lint --strict`', async () => {
  expect(await helm(['lint', chart, '--strict'])).toMatchObject({ code: 0 });
});

test('the CRD chart has a CRD for every document kind, sources and plans, and uninstalling keeps them (E73)', async () => {
  const manifests = (await render({ chart })).filter(isCrd);
  const kinds = manifests.map((manifest) => String(at(manifest, 'spec.names.kind')));
  expect(kinds.sort()).toEqual([...documentKinds.map(({ name }) => name), 'Plan', 'Source'].sort());
  const annotations = new Set(manifests.map(({ metadata }) => JSON.stringify(metadata.annotations)));
  expect(annotations).toEqual(new Set(['{"helm.sh/resource-policy":"keep"}']));
});

test('requests that would silently drop unknown fields are warned about and audited by default', async () => {
  const manifests = await render({ chart });
  const policy = only(manifests, 'ValidatingAdmissionPolicy', 'unknown-fields');
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding', 'unknown-fields');
  // The policy itself is not checked, because its published type lacks the members that its rules inherit.
  expect(typeFaults([binding])).toBe('');
  expect(at(policy, 'spec.matchConstraints.resourceRules.0')).toEqual({
    apiGroups: ['heddle.dev'],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['*'],
  });
  expect(binding['spec']).toEqual({ policyName: policy.metadata.name, validationActions: ['Warn', 'Audit'] });
});

test('requests with unknown fields are refused with unknownFields: [Deny]', async () => {
  const manifests = await render({ chart, over: { unknownFields: ['Deny'] } });
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding', 'unknown-fields');
  expect(at(binding, 'spec.validationActions')).toEqual(['Deny']);
});

test('an approver of a plan must give their own name, unless approvedBy is empty', async () => {
  const manifests = await render({ chart });
  const policy = only(manifests, 'ValidatingAdmissionPolicy', 'approved-by');
  const binding = only(manifests, 'ValidatingAdmissionPolicyBinding', 'approved-by');
  expect(at(policy, 'spec.matchConstraints.resourceRules.0.resources')).toEqual(['plans']);
  expect(binding['spec']).toEqual({ policyName: policy.metadata.name, validationActions: ['Deny'] });
  const without = await render({ chart, over: { approvedBy: [] } });
  expect(without.filter(({ metadata }) => metadata.name === 'heddle-approved-by')).toEqual([]);
});

test('tools may be excepted from the unknown-fields policy by their field manager', async () => {
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
])('no admission policy is rendered when %s', async (_, options) => {
  const kinds = (await render(options)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith('ValidatingAdmission'))).toEqual([]);
});

test.each(['unknownFields', 'approvedBy'])(
  '%s: [Deny] is refused when Kubernetes has no admission policies',
  async (value) => {
    const over = { unknownFields: [], approvedBy: [], [value]: ['Deny'] };
    const said = await refusal({ chart, over, args: kubernetes('1.29.3') });
    expect(said).toMatch(new RegExp(`upgrade the cluster, or set ${value} to \\[\\]`));
  },
);

test('the author role may change every document but no plan, the approver role only plans', async () => {
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

test('roles.aggregate adds the viewer and author roles to those of the namespace, and never the approver role', async () => {
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
])('the CRD chart refuses %s', async (_, over, says) => {
  expect(await refusal({ chart, over })).toContain(says);
});
