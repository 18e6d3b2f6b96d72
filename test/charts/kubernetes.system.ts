import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { serverFileFaults } from '../../src/config/file.ts';
import { kubernetesMembers } from '../../src/model/sources/kubernetes.ts';
import { documentKinds } from '../model/product.ts';
import { at, type Manifest, only, render } from './render.ts';
import { containerOf, podOf } from './shape.ts';

const schema: unknown = JSON.parse(readFileSync('charts/heddle/values.schema.json', 'utf8'));
const namespaces = [{ selector: { matchLabels: { 'heddle.dev/managed': 'true' } }, scope: { kinds: ['Group'] } }];
const enabled = { kubernetes: { enabled: true, namespaces } };
const options = { kinds: documentKinds.map(({ name }) => name), transports: ['https', 'ssh'] as const };
const isOfCluster = ({ kind }: Manifest) => kind.startsWith('Cluster');

function settingsFile(manifests: readonly Manifest[]) {
  const data = at(only(manifests, 'ConfigMap', '-server'), 'data') as Readonly<Record<string, string>>;
  return parse(data['heddle.yaml'] ?? '');
}

describe('the Kubernetes source of the chart', () => {
  test('is written to the settings file when it is enabled', async () => {
    const manifests = await render({ values: ['postgres'], over: enabled });
    expect(settingsFile(manifests)).toEqual({ sources: [{ name: 'k8s', type: 'kubernetes', namespaces }] });
    expect(at(containerOf(manifests), 'args')).toEqual(['serve', '--config', '/etc/heddle/server/heddle.yaml']);
  });

  test('is listed beside the other sources, in a file that the server accepts', async () => {
    const file = settingsFile(await render({ values: ['everything'] }));
    expect(file.sources.map(({ name }: { readonly name: string }) => name)).toEqual(['git', 'mesh']);
    expect(serverFileFaults(file, options)).toEqual([]);
  });

  test('is configured as docs/kubernetes.md shows, in a cluster and outside of it', async () => {
    const page = readFileSync('docs/kubernetes.md', 'utf8');
    const [values, file] = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => parse(text));
    const files = [settingsFile(await render({ values: ['postgres'], over: values })), file];
    const types = files.map(({ sources: [source] }) => source.type);
    expect(types).toEqual(['kubernetes', 'kubernetes']);
    expect(files.flatMap((one) => serverFileFaults(one, options))).toEqual([]);
  });

  test("supports every member of the server's namespace rules", () => {
    const known = at(kubernetesMembers, 'namespaces.items.properties');
    const rule = at(schema, 'definitions.namespaceRule.properties');
    expect(Object.keys(Object(rule)).sort()).toEqual(Object.keys(Object(known)).sort());
  });

  test("gives a service account token to the server's pod and no other", async () => {
    const manifests = await render({ values: ['postgres'], over: enabled });
    expect(at(podOf(manifests), 'automountServiceAccountToken')).toBe(true);
    expect(only(manifests, 'ServiceAccount')).toMatchObject({ automountServiceAccountToken: false });
    expect(at(only(manifests, 'Pod'), 'spec.automountServiceAccountToken')).toBe(false);
  });

  test('has rights to read resources and to write their status, plans and events, and no others', async () => {
    const manifests = await render({ values: ['postgres'], over: enabled });
    const role = only(manifests, 'ClusterRole');
    expect(at(role, 'rules')).toEqual([
      { apiGroups: ['heddle.dev'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['heddle.dev'], resources: ['*/status'], verbs: ['patch'] },
      { apiGroups: ['heddle.dev'], resources: ['sources', 'plans'], verbs: ['create', 'delete'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get'] },
    ]);
    expect(only(manifests, 'ClusterRoleBinding')).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: role.metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: at(podOf(manifests), 'serviceAccountName'), namespace: 'mesh' }],
    });
  });

  test.each([
    [{ read: true, write: false }, ['get']],
    [{ read: false, write: true }, ['get', 'create', 'patch']],
  ])('uses Secrets as far as %o permits, which adds a right', async (secrets, verbs) => {
    const kubernetes = { ...enabled.kubernetes, secrets };
    const manifests = await render({ values: ['postgres'], over: { kubernetes } });
    expect(at(only(manifests, 'ClusterRole'), 'rules')).toContainEqual({
      ...{ apiGroups: [''], resources: ['secrets'], verbs },
    });
    const file = settingsFile(manifests);
    expect(file.sources).toMatchObject([{ secrets }]);
    expect(serverFileFaults(file, options)).toEqual([]);
  });

  test('reads Services when permitted, which adds a right', async () => {
    const manifests = await render({
      ...{ values: ['postgres'], over: { kubernetes: { ...enabled.kubernetes, services: { read: true } } } },
    });
    expect(at(only(manifests, 'ClusterRole'), 'rules')).toContainEqual({
      ...{ apiGroups: [''], resources: ['services'], verbs: ['get'] },
    });
    const file = settingsFile(manifests);
    expect(file.sources).toMatchObject([{ services: { read: true } }]);
    expect(serverFileFaults(file, options)).toEqual([]);
  });

  test('has rights only in the namespaces that its rules name when clusterWide is false', async () => {
    const rules = [{ names: ['team-a', 'team-b'] }, { names: ['team-a', 'mesh'] }];
    const over = { kubernetes: { enabled: true, clusterWide: false, namespaces: rules } };
    const manifests = await render({ values: ['postgres'], over });
    expect(manifests.filter(isOfCluster)).toEqual([]);
    const inNamespaces = (kind: string) => manifests.filter((one) => one.kind === kind);
    const names = inNamespaces('Role').map(({ metadata }) => metadata.namespace);
    expect(names).toEqual(['team-a', 'team-b', 'mesh']);
    expect(inNamespaces('RoleBinding').map(({ metadata }) => metadata.namespace)).toEqual(names);
    for (const role of inNamespaces('Role')) {
      const rights = at(role, 'rules') as readonly { readonly resources: readonly string[] }[];
      expect(rights.flatMap(({ resources }) => resources)).toEqual([
        '*',
        '*/status',
        'sources',
        'plans',
        'events',
        'namespaces',
      ]);
    }
    expect(settingsFile(manifests).sources).toMatchObject([{ name: 'k8s', clusterWide: false, namespaces: rules }]);
    expect(serverFileFaults(settingsFile(manifests), options)).toEqual([]);
  });

  test('has cluster roles of different names for releases in two namespaces', async () => {
    const names = async (args: readonly string[]) =>
      (await render({ values: ['postgres'], over: enabled, args })).filter(isOfCluster).map((one) => one.metadata.name);
    expect(await names([])).toEqual(['mesh:office-heddle', 'mesh:office-heddle']);
    expect(await names(['--namespace', 'lab'])).toEqual(['lab:office-heddle', 'lab:office-heddle']);
  });

  test('is off by default: no token, no rights, no settings', async () => {
    const manifests = await render({ values: ['postgres'], over: { kubernetes: { namespaces } } });
    expect(manifests.filter((one) => isOfCluster(one) || one.kind === 'ConfigMap')).toEqual([]);
    expect(at(podOf(manifests), 'automountServiceAccountToken')).toBe(false);
  });

  test('replaces the pods when its rules change', async () => {
    const checksum = async (kubernetes: object) =>
      at(
        only(await render({ values: ['postgres'], over: { kubernetes } }), 'Deployment'),
        'spec.template.metadata.annotations.checksum/settings',
      );
    const before = await checksum(enabled.kubernetes);
    expect(await checksum({ ...enabled.kubernetes, namespaces: [{ names: ['team-a'] }] })).not.toBe(before);
    expect(await checksum(enabled.kubernetes)).toBe(before);
  });
});
