import { expect, test } from 'vitest';
import { mermaidProblems } from './mermaid.ts';
import { pages } from './pages.ts';

const diagrams = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/^```mermaid\n(.*?)^```/gms)].map(([, diagram = ''], at) => [path, at + 1, diagram] as const),
);

test.each(diagrams)('%s: Mermaid diagram %i has valid syntax', (_path, _at, diagram) => {
  expect(mermaidProblems(diagram)).toEqual([]);
});

test('README.md has one diagram and docs/gitops.md has two', () => {
  expect(diagrams.map(([path]) => path)).toEqual(['README.md', 'docs/gitops.md', 'docs/gitops.md']);
});

test.each([
  ['a bracket that stays open', 'flowchart LR\n  a["x"] --> b{"y"\n  b --> c\n'],
  ['a quote that stays open', 'flowchart LR\n  a["x] --> b\n'],
  ['an arrow that is too short', 'flowchart LR\n  a["x"] -> b\n'],
  ['a text on an arrow that stays open', 'flowchart LR\n  a -->|yes b\n'],
  ['an arrow to nowhere', 'flowchart LR\n  a --> b\n  b -->|yes|\n'],
  ['an unknown diagram', 'flowchat LR\n  a --> b\n'],
  ['a node with the name of a word of the language', 'flowchart LR\n  a --> end\n'],
])('the Mermaid check reports %s', (_what, diagram) => {
  expect(mermaidProblems(diagram)).not.toEqual([]);
});
