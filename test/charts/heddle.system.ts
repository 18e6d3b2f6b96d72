import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Config, readConfig, settings } from '../../src/config.ts';
import { helm } from './helm.ts';
import { typeFaults } from './kubernetes-types.ts';
import { at, isForeign, type Manifest, only, render, withValues } from './render.ts';
import { containerOf, environmentOf, namesIn, objectsBelow, podOf } from './shape.ts';
import { valueSets } from './value-sets.ts';

describe.each(valueSets)('the chart with the values of %s', (_, options) => {
  let manifests: readonly Manifest[];
  beforeAll(async () => {
    manifests = await render(options);
  });

  test('passes `helm lint --strict`', async () => {
    const run = await withValues(options, (flags) => helm(['lint', 'charts/heddle', '--strict', ...flags]));
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining('0 chart(s) failed') });
    expect(run.out).not.toMatch(/\[(?:WARNING|ERROR)\]/);
  });

  test('renders valid Kubernetes objects, each once, in the release namespace unless cluster-scoped', () => {
    expect(typeFaults(manifests.filter((manifest) => !isForeign(manifest)))).toBe('');
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const others = manifests.filter(({ metadata }) => metadata.namespace !== 'mesh');
    expect(others.filter(({ kind, metadata }) => !kind.startsWith('Cluster') || 'namespace' in metadata)).toEqual([]);
  });

  test('mounts directories and never a subPath, which would not follow its ConfigMap (E129)', () => {
    const paths = [...objectsBelow(manifests)].filter(([, object]) => 'subPath' in object || 'subPathExpr' in object);
    expect(paths).toEqual([]);
  });

  test('mounts exactly the volumes that it declares', () => {
    expect(namesIn(at(containerOf(manifests), 'volumeMounts'))).toEqual(namesIn(at(podOf(manifests), 'volumes')));
  });

  test('passes only settings that the server accepts', () => {
    const env = { ...environmentOf(manifests), HEDDLE_DATABASE_URL: 'postgres://db/heddle' };
    const known = new Set(Object.values(settings).map(({ variable }) => variable));
    expect(Object.keys(env).filter((name) => name.startsWith('HEDDLE_') && !known.has(name))).toEqual([]);
    const expected = Object.keys(settings) as (keyof Config)[];
    expect(readConfig(env, {}, expected)).toMatchObject({ ok: true });
  });

  test('meets the restricted Pod Security Standard in every pod', () => {
    for (const pod of [podOf(manifests), at(only(manifests, 'Pod'), 'spec')]) {
      expect(pod).toMatchObject({
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(at(pod, 'containers.0.securityContext')).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('runs the test pod with the service account of the servers', () => {
    const account = at(podOf(manifests), 'serviceAccountName');
    expect(at(only(manifests, 'Pod'), 'spec.serviceAccountName')).toBe(account);
  });

  test('runs the test pod on the same nodes as the servers', () => {
    for (const field of ['imagePullSecrets', 'nodeSelector', 'tolerations'])
      expect(at(only(manifests, 'Pod'), `spec.${field}`)).toEqual(at(podOf(manifests), field));
  });

  test("probes the server's health, and sets its resource requests and limits", () => {
    expect(containerOf(manifests)).toMatchObject({
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
      startupProbe: { httpGet: { path: '/healthz', port: 'http' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
      resources: { requests: { memory: expect.any(String) }, limits: { memory: expect.any(String) } },
    });
  });

  test('routes requests of the Service to servers, and not to the test pod', () => {
    for (const { kind, spec } of manifests) {
      if (kind !== 'Service') continue;
      const selector = Object(at(spec, 'selector'));
      expect(at(only(manifests, 'Deployment'), 'spec.template.metadata.labels')).toMatchObject(selector);
      expect(only(manifests, 'Pod').metadata.labels).not.toMatchObject(selector);
    }
  });
});

describe.each(['heddle', 'heddle-crds'])('the chart %s', (chart) => {
  test('embeds its icon, and names no person as maintainer', () => {
    const text = readFileSync(`charts/${chart}/Chart.yaml`, 'utf8');
    const { icon, maintainers, kubeVersion } = parse(text);
    const [, image = ''] = /^data:image\/svg\+xml;base64,(.*)$/.exec(icon) ?? [];
    expect(Buffer.from(image, 'base64').toString()).toMatch(/^<svg xmlns="[^"]+"[^<]*><path [^<]*><\/svg>$/);
    expect(maintainers).toEqual([{ name: 'The maintainers of Heddle' }]);
    expect(kubeVersion).toMatch(/^>=1\.\d+\.0-0$/);
  });

  test('passes `helm lint --strict` without a message', async () => {
    const flags = chart === 'heddle' ? ['--set', 'embedded.enabled=true'] : [];
    const { out } = await helm(['lint', `charts/${chart}`, '--strict', ...flags]);
    expect(out).toContain('1 chart(s) linted, 0 chart(s) failed');
    expect(out).not.toMatch(/\[(?:INFO|WARNING|ERROR)\]/);
  });
});
