import { describe, expect, it } from 'vitest';
import { foreignIn } from '../../src/documents/foreign.ts';
import { readFile } from '../../src/documents/read.ts';

/** What a text holds that is none of ours; `ours` when it is taken for documents, right or wrong. */
function heldBy(text: string): string {
  const { documents, problems, foreign } = readFile({ path: 'x', text });
  expect(foreignIn(text, problems) !== undefined && documents.length === 0).toBe(foreign !== undefined);
  return foreign?.holds ?? 'ours';
}

const group = 'kind: Group\nmetadata: {name: a}\nspec: {}\n';

describe('a file beside documents', () => {
  it.each([
    ['the settings of a bot', '{"extends": ["config:recommended"]}', 'no `apiVersion`'],
    ['a schema', '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}', 'no `apiVersion`'],
    ['a kustomization', 'resources: [a.yaml]\n', 'no `apiVersion`'],
    [
      'a kustomization with its group',
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n',
      'Kustomization of kustomize.config.k8s.io/v1beta1',
    ],
    ['an object of Kubernetes', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n', 'ConfigMap of v1'],
    [
      'a kind of ours in another group',
      `apiVersion: iam.example.com/v1beta1\n${group}`,
      'Group of iam.example.com/v1beta1',
    ],
    ['several of others', 'apiVersion: v1\nkind: Secret\n---\napiVersion: apps/v1\nkind: Deployment\n', 'Secret of v1'],
    ['a pipeline', 'kind: pipeline\nsteps: []\n', 'no `apiVersion`'],
    ['a list of names', '["a", "b"]', 'a list'],
  ])('is none of ours when it holds %s', (_, text, held) => {
    expect(heldBy(text)).toBe(held);
  });

  it.each([
    ['a document', `apiVersion: heddle.dev/v1\n${group}`],
    ['another version of ours', `apiVersion: heddle.dev/v2\n${group}`],
    ['a group that is nearly ours', `apiVersion: hedle.dev/v1\n${group}`],
    ['a group that has our name', `apiVersion: heddle.io/v1\n${group}`],
    ['a document without a version', group],
    ['a version that is none', `apiVersion: 1\n${group}`],
    ['a foreign object beside one of ours', `apiVersion: v1\nkind: Secret\n---\napiVersion: heddle.dev/v1\n${group}`],
    [
      'a list of Kubernetes that holds ours',
      `apiVersion: v1\nkind: List\nitems:\n- {apiVersion: heddle.dev/v2, kind: Group}\n`,
    ],
    ['what cannot be read', 'resources: [a.yaml\n'],
    ['a text', 'resources\n'],
    ['nothing', '# nothing\n'],
  ])('is judged as documents when it holds %s', (_, text) => {
    expect(heldBy(text)).toBe('ours');
  });
});
