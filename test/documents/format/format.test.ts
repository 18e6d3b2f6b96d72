import { describe, expect, it } from 'vitest';
import { writeDocuments } from '../../../src/documents/write.ts';
import { format, formatted } from './sample.ts';

const head = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: a\n';

describe('the canonical form', () => {
  it('has members in the order of their kind at every depth, and unknown members last', () => {
    const text = `kind: Policy
spec:
  own: 1
  rules:
    - sources: [b, a]
      protocol: tcp
      name: web
      action: accept
  name: P
metadata: { labels: { b: x, a: y }, name: p }
apiVersion: heddle.dev/v1
`;
    expect(formatted(text)).toBe(`apiVersion: heddle.dev/v1
kind: Policy
metadata: { name: p, labels: { b: x, a: y } }
spec:
  name: P
  rules:
    - name: web
      action: accept
      protocol: tcp
      sources: [b, a]
  own: 1
`);
  });

  it.each([
    ['indentation of two spaces, lists too', 'x:\n    -   a\n    -   b\n', 'x:\n    - a\n    - b\n'],
    ['lists below their member', 'x:\n  - a\n  -\n    b: 1\n', 'x:\n    - a\n    - b: 1\n'],
    ['double quotes', "x: 'it''s'\n", 'x: "it\'s"\n'],
    ['single ones where double ones need escapes', `x: '"\\'\n`, `x: '"\\'\n`],
    ['quotes only where keys need them', '"x": a\n  "y z": b\n', 'x: a\n  "y z": b\n'],
    ['one spelling of the words of YAML', 'x: TRUE\n  y: ~\n  z:\n', 'x: true\n  y: null\n  z:\n'],
    ['spaces within braces only', 'x: {a: [ 1,2 ],b}\n', 'x: { a: [1, 2], b: null }\n'],
    ['brackets of several lines as a block', 'x: [\n    a, # one\n    b ]\n', 'x:\n    - a # one\n    - b\n'],
    ['empty ones in brackets', 'x: {\n  }\n  y: [ ]\n', 'x: {}\n  y: []\n'],
    ['one blank line at most', 'x: 1\n\n\n\n  y: 2\n', 'x: 1\n\n  y: 2\n'],
    ['no blank line above the first member', '\n\n  x: 1\n', 'x: 1\n'],
    [
      'block texts below their member',
      'x: |\n          a\n            b\n\n  y: 1\n',
      'x: |\n    a\n      b\n\n  y: 1\n',
    ],
    ['their indentation only where it counts', 'x: |4-\n       a\n      b\n', 'x: |2-\n     a\n    b\n'],
    ['continued texts below their member', 'x: a\n     b\n\n     c\n', 'x: a\n    b\n\n    c\n'],
  ])('has %s', (_, spec, canonical) => {
    expect(formatted(`${head}spec:\n  ${spec}`)).toBe(`${head}spec:\n  ${canonical}`);
  });

  it('has inline brackets only where the line is short enough', () => {
    const entry = (name: string) => `{ name: ${name}, type: CNAME, content: target.example.com }`;
    const long = 'a'.repeat(70);
    expect(formatted(`${head}spec:\n  x:\n  - ${entry('b')}\n  - ${entry(long)}\n`)).toBe(
      `${head}spec:\n  x:\n    - ${entry('b')}\n    - name: ${long}\n      type: CNAME\n      content: target.example.com\n`,
    );
  });

  it('is what an export writes', () => {
    const spec = { name: 'P', rules: [{ name: 'r', action: 'accept', protocol: 'tcp', ports: ['22'] }] };
    const text = writeDocuments([
      { kind: 'Policy', metadata: { name: 'p' }, spec },
      { kind: 'Group', metadata: { name: 'g', labels: { country: 'NO' } }, spec: {}, comment: 'why' },
    ]);
    expect(formatted(text)).toBe(text);
  });

  it('of JSON is JSON', () => {
    const value = { spec: {}, metadata: { name: 'a' }, kind: 'Group', apiVersion: 'heddle.dev/v1' };
    const { spec, metadata, kind, apiVersion } = value;
    const canonical = `${JSON.stringify({ apiVersion, kind, metadata, spec }, null, 2)}\n`;
    expect(formatted(JSON.stringify(value), 'a.json')).toBe(canonical);
    expect(formatted(JSON.stringify(value), '-')).toBe(canonical);
    expect(formatted(JSON.stringify(value))).toBe(
      'apiVersion: "heddle.dev/v1"\nkind: "Group"\nmetadata: { name: "a" }\nspec: {}\n',
    );
  });

  it('keeps the line endings of the file and drops the byte order mark', () => {
    const text = `\ufeff${head}spec: {  }\n---\n${head.replace('name: a', 'name: b')}`;
    expect(formatted(text.replaceAll('\n', '\r\n'))).toBe(
      `${head}spec: {}\n---\n${head.replace('name: a', 'name: b')}`.replaceAll('\n', '\r\n'),
    );
  });
});

describe('comments', () => {
  it('stay with the member or line that they describe', () => {
    const text = `# About the file.

# About the group.
kind: Group # a kind
apiVersion: heddle.dev/v1
metadata:   # who
      # The key.
      name: a   # never changes
      # labels: {}
# What it holds.
spec:
# The name.
  name: x
  tags: [ # all
    # one
    a,
    b # two
    # no more
  ] # end
# The end.
`;
    expect(formatted(text)).toBe(`# About the file.

# About the group.
apiVersion: heddle.dev/v1
kind: Group # a kind
metadata: # who
  # The key.
  name: a # never changes
  # labels: {}
# What it holds.
spec:
  # The name.
  name: x
  tags: # all
    # one
    - a
    - b # two
    # end
    # no more
# The end.
`);
  });

  it('move with their member and its items', () => {
    const text = `${head}spec:\n  # Zeta.\n  zeta: 1 # last\n\n  # Name.\n  name: x\n  items:\n    # First.\n    - # of two\n      a: 1\n    - b: 2\n    # - c: 3\n`;
    expect(formatted(text)).toBe(
      `${head}spec:\n  # Name.\n  name: x\n  # Zeta.\n  zeta: 1 # last\n  items:\n    # First.\n    - # of two\n      a: 1\n    - b: 2\n    # - c: 3\n`,
    );
  });
});

describe('a stream of documents', () => {
  it('keeps its separators, including a leading one, and the comments between them', () => {
    const text = `--- # one\n${head}...\n# between\n---\n\n---\n${head.replace('name: a', 'name: b')}\n# last\n`;
    expect(formatted(text)).toBe(
      `---\n# one\n${head}---\n# between\n---\n${head.replace('name: a', 'name: b')}\n# last\n`,
    );
  });

  it('leaves documents of other programs unchanged, and sorts the members of documents in a List', () => {
    const other = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: 'x'}\n`;
    const list = `kind: List\napiVersion: v1\nitems:\n- {kind: Group, apiVersion: heddle.dev/v1, metadata: {name: b}}\n`;
    expect(formatted(`${other}---\n${list}`)).toBe(
      `${other}---\napiVersion: v1\nkind: List\nitems:\n  - { apiVersion: heddle.dev/v1, kind: Group, metadata: { name: b } }\n`,
    );
  });
});

describe('a file given to heddle fmt', () => {
  it.each([
    ['an anchor', `${head}spec: &x {}\n`, 'yaml_anchor', 5],
    ['a merge key', `${head}spec:\n  <<: {}\n`, 'yaml_merge_key', 6],
    ['a tag', `${head}spec: !!map {}\n`, 'yaml_tag', 5],
    ['a directive', `%YAML 1.1\n---\n${head}`, 'yaml_directive', 1],
    ['a syntax error', `${head}spec: {\n`, 'yaml_invalid', 6],
    ['a member that is none', `${head}specs: {}\n`, 'member_unknown', 5],
  ])('with %s is left unchanged, and the line is reported', (_, text, code, line) => {
    const result = format(text);
    expect(result.type === 'problems' && result.problems.map((one) => [one.code, one.line])).toEqual([[code, line]]);
  });

  it('without documents is ignored', () => {
    expect(format('').type).toBe('ignored');
    expect(format('# nothing\n').type).toBe('ignored');
    expect(format('name: x\non: push\n').type).toBe('ignored');
  });

  it('with YAML under the name of a JSON file is left unchanged, with the advice to rename it', () => {
    expect(format(head, 'a.json')).toEqual({ type: 'kept', reason: expect.stringContaining('rename it to .yaml') });
  });
});
