import { describe, expect, test } from 'vitest';
import { createLocator, locate } from '../../src/documents/locate.ts';
import { parseYaml } from '../../src/documents/yaml/yaml.ts';
import { group, read } from './sample.ts';

const policy = `# the first document is not ours
${group('x')}...
---
apiVersion: heddle.dev/v1
kind: Policy
metadata: {name: p}
spec:
  version: 1.10
  "a/b~c": "quoted"
  empty:
  rules:
    - name: pg
      ports: [1, 0x10]
    # a comment
    - name: web
---
${group('y')}`;
const file = { path: 'a.yaml', text: policy };
const position = read(policy).documents[1]?.position ?? { file: '', line: 0, index: 0, pointer: '' };

describe('locate', () => {
  test.each([
    ['a scalar, with its literal text', '/spec/version', 13, 12, '1.10'],
    ['an element of a list', '/spec/rules/0/ports/1', 18, 18, '0x10'],
    ['a member after a comment', '/spec/rules/1/name', 20, 13, 'web'],
    ['a key with / and ~', '/spec/a~1b~0c', 14, 12, '"quoted"'],
    ['a map, at its key', '/spec', 12, 1, undefined],
    ['a list, at its key', '/spec/rules', 16, 3, undefined],
    ['an element that is a map, at its first key', '/spec/rules/1', 20, 7, undefined],
    ['a member without a value, at its key', '/spec/empty', 15, 3, undefined],
    ['the document', '', 9, 1, undefined],
    ['a missing member, at the map that lacks it', '/spec/rules/1/ports/0', 20, 7, undefined],
    ['something inside a scalar, at the scalar', '/spec/version/major', 13, 12, undefined],
    ['an element beyond the list', '/spec/rules/7', 16, 3, undefined],
  ])('finds %s', (_, pointer, line, column, source) => {
    expect(locate(file, position, pointer)).toEqual({ line, column, ...(source !== undefined && { source }) });
  });
});

test('values are located in files with CRLF and a byte order mark', () => {
  const windows = { ...file, text: `\ufeff${policy.replaceAll('\n', '\r\n')}` };
  expect(locate(windows, position, '/spec/version')).toEqual({ line: 13, column: 12, source: '1.10' });
});

test('values are located in the elements of a JSON List', () => {
  const items = ['a', 'b'].map((name) => ({
    apiVersion: 'heddle.dev/v1',
    kind: 'Group',
    metadata: { name },
    spec: { n: 1 },
  }));
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2);
  const second = read(text).documents[1];
  expect(second && locate({ path: 'a.yaml', text }, second.position, '/spec/n')).toEqual({
    line: 22,
    column: 14,
    source: '1',
  });
});

test('values are located in a document that begins on the line of its separator', () => {
  const text = `--- {a: 1}\n--- {b: 2}\n`;
  expect(locate({ path: 'a.yaml', text }, { file: 'a.yaml', line: 2, index: 1, pointer: '' }, '/b')).toEqual({
    line: 2,
    column: 9,
    source: '2',
  });
});

test('locating a thousand problems of one document parses it once, and no other document', () => {
  let parsed = '';
  const locator = createLocator([file], (text) => {
    parsed += text;
    return parseYaml(text);
  });
  for (let index = 0; index < 1000; index += 1) locator(position, `/spec/rules/${index}`);
  expect(parsed.match(/kind: .*/g)).toEqual(['kind: Policy']);
});

test('locating in an unknown file returns the start of the document', () => {
  expect(createLocator([])(position, '/spec')).toEqual({ line: 9, column: 1 });
});
