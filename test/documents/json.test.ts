import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJsonText } from '../../src/documents/yaml/json-text.ts';
import { onlyProblem, read } from './sample.ts';

const head = '"apiVersion": "heddle.dev/v1", "kind": "Group", "metadata": {"name": "a"}';

test.each([
  ['E4: a repeated key', `{${head},\n "spec": {"a": 1, "a": 1}}`, 'key_duplicate', 2],
  ['E4: a repeated key written with an escape', `{${head},\n "spec": {"a": 1, "\\u0061": 1}}`, 'key_duplicate', 2],
  ['E4: a repeated key of the document', `{${head},\n "kind": "Group"}`, 'key_duplicate', 2],
  ['E11: NUL', `{${head},\n "spec": {"a": "\\u0000"}}`, 'string_nul', 2],
  ['E11: a lone surrogate', `{${head},\n "spec": {"a": "\\ud800"}}`, 'string_surrogate', 2],
  ['E11: 2^53+1', `{${head},\n "spec": {"a": 9007199254740993}}`, 'number_unsafe', 2],
  ['E11: an overflow', `{${head},\n "spec": {"a": 1e999}}`, 'number_not_finite', 2],
  ['the key __proto__', `{${head},\n "spec": {"__proto__": {}}}`, 'key_forbidden', 2],
  ['a byte order mark inside', `{${head},\n "spec": {"a": "\ufeff"}}`, 'yaml_byte_order_mark', 2],
])('a JSON document is refused for %s', (_, text, code, line) => {
  expect(onlyProblem(text)).toMatchObject({ code, line });
});

test('colons, brackets and quotes inside JSON strings are read as text', () => {
  const spec = { 'a:b': 'c:d', e: ['{', '"', '\\', '\\":', ':'], f: { 'g"': '\\\\' } };
  const text = `{${head}, "spec": ${JSON.stringify(spec)}}`;
  expect(readJsonText(text)).toBeDefined();
  expect(read(text)).toMatchObject({ documents: [{ spec }], problems: [] });
});

test('several JSON documents in one file are read as YAML', () => {
  expect(read(`{${head}}\n---\n{${head}}\n`).documents).toHaveLength(2);
});

test('JSON and YAML give the same values for the same text', () => {
  const value = fc.dictionary(fc.string({ unit: 'binary-ascii' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
  fc.assert(
    fc.property(value, (spec) => {
      const text = `{${head}, "spec": ${JSON.stringify(spec)}}`;
      const quick = readJsonText(text);
      if (quick === undefined) return;
      expect(read(`${text}\n# YAML`).documents[0]?.spec).toEqual((quick.value as { spec: unknown }).spec);
    }),
    { numRuns: 300 },
  );
});
