import { describe, expect, it } from 'vitest';
import { readFile } from '../../src/documents/read.ts';

/**
 * Returns what a text without Heddle documents contains. Returns `ours` when the text is read as documents, valid or
 * not.
 */
function heldBy(text: string): string {
  const { documents, problems, foreign } = readFile({ path: 'x', text });
  if (foreign === undefined || foreign.objects !== undefined) return 'ours';
  expect([documents, problems, foreign.problems.length > 0]).toEqual([[], [], true]);
  return foreign.holds;
}

const group = 'kind: Group\nmetadata: {name: a}\nspec: {}\n';

describe('a file among documents', () => {
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
    [
      'what a server makes in a cluster',
      'apiVersion: heddle.dev/v1\nkind: Source\nmetadata: {name: k8s}\nspec: {}\n',
      'Source of heddle.dev/v1 (in which a server shows a namespace of a cluster)',
    ],
  ])('is ignored as foreign when it contains %s', (_, text, held) => {
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
  ])('is validated as documents when it contains %s', (_, text) => {
    expect(heldBy(text)).toBe('ours');
  });
});

describe('foreign objects among documents', () => {
  /** Returns the foreign content of a file, and its documents and problems. */
  const parts = (text: string) => {
    const { documents, problems, foreign } = readFile({ path: 'x', text });
    return {
      documents: documents.map(({ metadata }) => metadata.name),
      problems: problems.map(({ code }) => code),
      foreign: foreign && [foreign.holds, foreign.objects?.map(({ kind, name, line }) => `${kind} ${name} ${line}`)],
    };
  };
  const ours = `apiVersion: heddle.dev/v1\n${group}`;

  it('are separated from the documents of a file', () => {
    const text = `apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n---\n${ours}---\napiVersion: apps/v1\nkind: Deployment\n`;
    expect(parts(text)).toEqual({
      documents: ['a'],
      problems: [],
      foreign: ['Secret of v1, Deployment of apps/v1', ['Secret key 1', 'Deployment undefined 10']],
    });
  });

  it.each([
    ['YAML', (items: string) => `apiVersion: v1\nkind: List\nitems: ${items}\n`],
    ['JSON', (items: string) => `{"apiVersion": "v1", "kind": "List", "items": ${items}}`],
  ])('are separated from the documents of a list in %s', (_, list) => {
    const items = [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' } },
      { apiVersion: 'heddle.dev/v1', kind: 'Plan', metadata: { name: 'p' }, spec: {} },
      { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'a' }, spec: {} },
    ];
    expect(parts(list(JSON.stringify(items)))).toMatchObject({
      documents: ['a'],
      problems: [],
      foreign: [expect.stringMatching(/^Secret of v1, Plan of heddle.dev.v1 \(in which/), expect.anything()],
    });
  });

  it('hide no problem of a document next to them', () => {
    expect(parts(`apiVersion: v1\nkind: Secret\n---\napiVersion: heddle.dev/v2\n${group}`)).toMatchObject({
      documents: [],
      problems: ['api_version_unknown'],
    });
    expect(parts(`apiVersion: hedle.dev/v1\n${group}---\n${ours}`)).toMatchObject({
      documents: ['a'],
      problems: ['api_version_unknown'],
    });
  });

  it('are summarized by kind when there are many kinds', () => {
    const many = ['A', 'B', 'C', 'D', 'E', 'E'].map((kind) => `apiVersion: example.com/v1\nkind: ${kind}\n---\n`);
    expect(parts(many.join('') + ours).foreign?.[0]).toBe(
      'A of example.com/v1, B of example.com/v1, C of example.com/v1, 2 others',
    );
  });
});
