import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LuaFactory } from 'wasmoon';
import { parse } from 'yaml';
import { typeFaults } from '../charts/kubernetes-types.ts';
import { at, only, readManifests, render } from '../charts/render.ts';
import { runHere } from '../cli/collect.ts';
import { callFault } from '../setup/command-lines.ts';
import { appliedExamples, exampleFolder } from './cluster-examples.ts';

const text = (path: string) => readFileSync(`${exampleFolder}${path}`, 'utf8');
const applied = await appliedExamples();
const own = applied.filter(({ apiVersion }) => apiVersion === 'heddle.dev/v1');
const deployments = applied.filter(({ kind }) => kind === 'Deployment');

test('the kustomization lists every file of the team, and the namespace is in the first one', () => {
  const files = globSync('team-a/*.yaml', { cwd: exampleFolder }).sort();
  expect(parse(text('kustomization.yaml')).resources.toSorted()).toEqual(files);
  expect(applied).toHaveLength(files.flatMap((file) => readManifests(text(file))).length);
  expect(only(readManifests(text(files[0] ?? '')), 'Namespace').metadata.name).toBe('team-a');
  expect(typeFaults(applied.filter((manifest) => !own.includes(manifest)))).toBe('');
});

test('heddle validate accepts the example, with a note about resources of other programs', async () => {
  const { code, out } = await runHere(['validate', exampleFolder], {});
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+ documents in \d+ files are valid\.$/m)]);
  expect(out).toContain('contains Deployment of apps/v1 in addition to Heddle documents');
});

test('the example uses only the key prefix and the kinds that the rule of the namespace allows', () => {
  const [rule] = parse(text('values.yaml')).kubernetes.namespaces;
  expect(rule.names).toEqual(['team-a']);
  const [prefix] = rule.scope.keyPrefixes;
  expect(own.filter(({ metadata }) => !metadata.name.startsWith(prefix))).toEqual([]);
  expect(own.filter(({ kind }) => !rule.scope.kinds.includes(kind))).toEqual([]);
});

test('the chart accepts the values of the example', async () => {
  const rendered = await render({ values: ['postgres'], over: parse(text('values.yaml')) });
  expect(typeFaults(rendered)).toBe('');
});

test('pods enrol with the Secret to which a SetupKey document writes its key', () => {
  const secrets = own.flatMap(({ metadata }) => metadata.annotations?.['heddle.dev/output-secret'] ?? []);
  const named = deployments.map(
    (deployment) => JSON.stringify(deployment).match(/"secretKeyRef":\{"key":"key","name":"([^"]*)"/)?.[1],
  );
  expect(named.toSorted()).toEqual(secrets.toSorted());
  const calls = deployments.flatMap((deployment) =>
    (at(deployment, 'spec.template.spec.containers') as readonly { readonly args?: readonly string[] }[]).flatMap(
      ({ args }) => (args === undefined ? [] : [args]),
    ),
  );
  expect(calls.map(callFault)).toEqual([undefined, undefined]);
});

test('Flux and Argo CD apply the folder of the example', () => {
  const path = 'examples/kubernetes';
  const flux = only(readManifests(text('flux/team-a.yaml')), 'Kustomization');
  const argocd = only(readManifests(text('argocd/team-a.yaml')), 'Application');
  expect([at(flux, 'spec.path'), at(flux, 'spec.wait'), at(argocd, 'spec.source.path')]).toEqual([
    `./${path}`,
    true,
    path,
  ]);
  expect(only(readManifests(text('flux/team-a.yaml')), 'GitRepository').metadata.name).toBe(
    at(flux, 'spec.sourceRef.name'),
  );
});

const customizations = parse(parse(text('argocd/health.yaml')).data['resource.customizations']);
const health: string = customizations['heddle.dev/*']['health.lua'];

/** Returns the health that Argo CD shows for a resource. */
async function healthOf(resource: object): Promise<unknown> {
  const engine = await new LuaFactory().createEngine({ openStandardLibs: true });
  try {
    return await engine.doString(`obj = ${luaOf(resource)}\nlocal function check()\n${health}end\nlocal found = check()
return found.status .. ': ' .. found.message`);
  } finally {
    engine.global.close();
  }
}

/** Returns a JSON value in the syntax of Lua. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `[${JSON.stringify(name)}] = ${luaOf(member)}`)
    .join(', ')}}`;
}

const condition = (type: string, status = 'True', reason = 'Reason') => ({
  type,
  status,
  reason,
  message: `is ${type}`,
});
const resource = (conditions?: readonly object[], more: object = {}) => ({
  kind: 'Policy',
  metadata: { generation: 2 },
  ...(conditions === undefined ? {} : { status: { observedGeneration: 2, conditions } }),
  ...more,
});
const calm = [condition('Reconciling', 'False'), condition('Stalled', 'False')];

test.each<[string, object, string]>([
  ['Progressing before it was looked at', resource(), 'Progressing: Heddle has not processed the resource yet'],
  [
    'Progressing while it is of a former generation',
    resource([condition('Ready')], { metadata: { generation: 3 } }),
    'Progressing: Heddle has not processed the latest change yet',
  ],
  ['Healthy when it is Ready', resource([condition('Ready'), ...calm]), 'Healthy: is Ready'],
  [
    'Progressing while something is missing',
    resource([condition('Ready', 'False'), condition('Reconciling')]),
    'Progressing: is Ready',
  ],
  [
    'Degraded when it is held back',
    resource([condition('Ready', 'False'), condition('Stalled', 'True', 'Invalid')]),
    'Degraded: is Stalled',
  ],
  [
    'Suspended when its plan waits',
    resource([condition('Ready', 'False'), condition('Stalled', 'True', 'NeedsApproval')]),
    'Suspended: is Stalled',
  ],
  [
    'Suspended when it is a source that is',
    resource([condition('Suspended'), condition('Ready', 'False')], { kind: 'Source' }),
    'Suspended: is Suspended',
  ],
  [
    'Suspended when it is a plan that waits',
    resource([condition('Approved', 'False')], { kind: 'Plan' }),
    'Suspended: waits for an approval',
  ],
  [
    'Progressing when it is a plan that was approved',
    resource([condition('Approved')], { kind: 'Plan' }),
    'Progressing: is Approved',
  ],
])('Argo CD shows a resource as %s', async (_, shown, expected) => {
  expect(await healthOf(shown)).toBe(expected);
});
