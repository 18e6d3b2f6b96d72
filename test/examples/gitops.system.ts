import { describe, expect, test } from 'vitest';
import { kustomize } from '../charts/helm.ts';
import { typeFaults } from '../charts/kubernetes-types.ts';
import { at, type Manifest, only, readManifests, render } from '../charts/render.ts';
import { podOf } from '../charts/shape.ts';
import { callFault } from '../setup/command-lines.ts';
import { recipeText } from './recipes.ts';

const flux = readManifests(recipeText('flux/heddle.yaml'));
const argocd = readManifests(recipeText('argocd/heddle.yaml'));

test('kustomize builds one ConfigMap with a fixed name from the documents', async () => {
  const manifests = readManifests(await kustomize('examples/ci/gitops'));
  expect(typeFaults(manifests)).toBe('');
  const map = only(manifests, 'ConfigMap');
  expect(map.metadata).toMatchObject({ name: 'heddle-office', namespace: 'heddle' });
  const files = ['groups.yaml', 'policies.yaml'];
  const texts = files.map((file) => [file, recipeText(`gitops/documents/${file}`)]);
  expect(map['data']).toEqual(Object.fromEntries(texts));
});

describe.each([
  ['Flux', flux, () => at(only(flux, 'HelmRelease'), 'spec.values')],
  ['Argo CD', argocd, () => at(only(argocd, 'Application'), 'spec.sources.0.helm.valuesObject')],
])('the recipe for %s', (_, manifests, values) => {
  test('gives the chart valid values, and creates no Secret', async () => {
    const rendered = await render({ over: Object(values()) });
    expect(typeFaults(rendered)).toBe('');
    expect(rendered.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(at(podOf(rendered), 'volumes')).toContainEqual({
      name: 'source-0',
      configMap: { name: 'heddle-office' },
    });
  });

  test('refers only to paths of this repository and to resources of the recipe', () => {
    const text = JSON.stringify(manifests);
    expect(text).toContain('"charts/heddle"');
    expect(text).toMatch(/"(?:\.\/)?gitops"/);
    const known = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
    expect(referencesIn(manifests).filter((name) => !known.has(name))).toEqual([]);
  });

  test('mentions only commands that exist', () => {
    const comments = recipeText(manifests === flux ? 'flux/heddle.yaml' : 'argocd/heddle.yaml');
    const calls = [...comments.matchAll(/`heddle ([^`]+)`/g)].map(([, words = '']) => words.split(' '));
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.map(callFault).filter((fault) => fault !== undefined)).toEqual([]);
  });
});

function referencesIn(manifests: readonly Manifest[]): readonly string[] {
  const found = [...JSON.stringify(manifests).matchAll(/"sourceRef":\{"kind":"(\w+)","name":"(\w+)"\}/g)];
  return found.map(([, kind, name]) => `${kind} ${name}`);
}
