import { expect, test } from 'vitest';
import { group, onlyProblem, read } from './sample.ts';

const item = (name: string) => ({ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name }, spec: {} });
const indented = (text: string) => text.trimEnd().replaceAll('\n', '\n    ');

test.each(['heddle.dev/v1', 'v1'])(
  'a List of apiVersion %s is expanded with a pointer and a line for each element',
  (apiVersion) => {
    const text = `apiVersion: ${apiVersion}\nkind: List\nitems:\n  - ${indented(group('a'))}\n  - ${indented(group('b'))}\n`;
    const { documents, problems } = read(text);
    expect(problems).toEqual([]);
    expect(documents.map(({ metadata, position }) => [metadata.name, position.pointer, position.line])).toEqual([
      ['a', '/items/0', 4],
      ['b', '/items/1', 9],
    ]);
  },
);

test('a JSON List is read like the same List in YAML, with the same lines', () => {
  const value = { kind: 'List', items: [item('a'), item('b')], apiVersion: 'heddle.dev/v1' };
  const text = JSON.stringify(value, null, 2);
  const { documents, problems } = read(text);
  expect(problems).toEqual([]);
  // With a comment, the text is YAML and not JSON.
  expect(read(`${text}\n# YAML`)).toEqual({ documents, problems });
  expect(documents.map(({ position }) => position.line)).toEqual([4, 12]);
});

test('problems inside a List have a path and a line inside the List', () => {
  const problem = onlyProblem(
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item('a'), item('B')] }, null, 1),
  );
  expect(problem).toMatchObject({ code: 'name_invalid', path: '/items/1/metadata/name', line: 17, key: 'B' });
});

test.each([
  ['a List without items', { apiVersion: 'v1', kind: 'List' }, 'list_invalid', '/items'],
  [
    'a List in a List',
    { apiVersion: 'v1', kind: 'List', items: [{ apiVersion: 'v1', kind: 'List', items: [] }] },
    'list_invalid',
    '/items/0',
  ],
  ['a List of another version', { apiVersion: 'v2', kind: 'List', items: [] }, 'api_version_unknown', '/apiVersion'],
  ['an unknown member of a List', { apiVersion: 'v1', kind: 'List', items: [], item: [] }, 'member_unknown', '/item'],
  ['a text as an element', { apiVersion: 'v1', kind: 'List', items: ['a'] }, 'document_invalid', '/items/0'],
])('%s is refused', (_, value, code, path) => {
  expect(onlyProblem(JSON.stringify(value))).toMatchObject({ code, path });
});

test.each([['an empty List', { apiVersion: 'v1', kind: 'List', items: [], metadata: {} }]])(
  '%s is read as zero documents',
  (_, value) => {
    expect(read(JSON.stringify(value))).toEqual({ documents: [], problems: [] });
  },
);
