import { expect, test } from 'vitest';
import { limits } from '../../src/documents/limits.ts';
import { createReader } from '../../src/documents/reader.ts';
import { parseYaml } from '../../src/documents/yaml/yaml.ts';
import { hasMoreValuesThan } from '../../src/documents/yaml/yaml-text.ts';
import { expectTruncated, group, onlyProblem, read } from './sample.ts';

const padded = (bytes: number) => group('a') + '#'.repeat(bytes - group('a').length);
const nested = (depth: number) => group('a', ` {x: ${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`);

test('E15: a file of exactly 4 MiB is read, one byte more is refused', () => {
  expect(read(padded(limits.fileBytes)).documents).toHaveLength(1);
  expect(onlyProblem(padded(limits.fileBytes + 1))).toMatchObject({ code: 'file_too_large', line: 1, column: 1 });
});

test('E15: the size limit of a file counts bytes, not characters', () => {
  expect(onlyProblem(`# ${'é'.repeat(limits.fileBytes / 2)}`).code).toBe('file_too_large');
});

test('E15: a nesting depth of 64 is read, 65 is refused, in YAML and in JSON', () => {
  expect(read(nested(limits.depth)).problems).toEqual([]);
  expect(onlyProblem(nested(limits.depth + 1)).code).toBe('document_too_deep');
  const spec = (depth: number) =>
    JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'A', metadata: { name: 'a' }, spec: { x: 0 } }).replace(
      '0',
      '['.repeat(depth - 2) + ']'.repeat(depth - 2),
    );
  expect(read(spec(limits.depth)).problems).toEqual([]);
  expect(onlyProblem(spec(limits.depth + 1)).code).toBe('document_too_deep');
});

test.each([
  ['[0, "a", \'b\']', 4],
  ['- a\n- b: c\n', 5],
  ['--- a\n--- b\n', 4],
])('the values of a text are counted before parsing, and never overestimated: %j', (text, count) => {
  expect([hasMoreValuesThan(text, count - 1), hasMoreValuesThan(text, count)]).toEqual([true, false]);
});

test('parser errors carry no stack traces, because a text may cause a million of them', () => {
  const before = Error.stackTraceLimit;
  const [error] = parseYaml('a: [').documents.flatMap(({ errors }) => errors);
  expect(error?.stack).toBe(`${error?.name}: ${error?.message}`);
  expect(Error.stackTraceLimit).toBe(before);
});

test('a hundred thousand problems in many documents are truncated to the first thousand and a note', () => {
  expectTruncated('--- a\n'.repeat(5_000), 'document_invalid');
});

test('a key of a megabyte is shortened in messages and paths', () => {
  const key = 'k'.repeat(1_000_000);
  const { problems } = read(`${group('a', `\n  ? ${key}\n  : [*a, &b c]\n`)}? ${key}\n: 1\n`);
  expect(problems.map((problem) => problem.code)).toEqual(['yaml_alias', 'yaml_anchor', 'member_unknown']);
  expect(JSON.stringify(problems).length).toBeLessThan(5000);
});

test('a document has at most 100 previous names, as a list or as an annotation', () => {
  const names = Array.from({ length: 101 }, (_, at) => `n${at}`);
  const withMetadata = (metadata: object) =>
    JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'a', ...metadata }, spec: {} });
  const annotated = (list: readonly string[]) => ({ annotations: { 'heddle.dev/previous-names': list.join(',') } });
  expect(read(withMetadata({ previousNames: names.slice(1) })).problems).toEqual([]);
  expect(read(withMetadata(annotated(names.slice(1)))).problems).toEqual([]);
  expect(read(withMetadata({ previousNames: names })).problems).toMatchObject([{ code: 'list_too_long' }]);
  expect(read(withMetadata(annotated(names))).problems).toMatchObject([{ code: 'list_too_long' }]);
});

test('a repeated previous name counts once, and its fault is reported at its first position', () => {
  const withMetadata = (metadata: object) =>
    read(
      JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'a', ...metadata }, spec: {} }),
    );
  const previousNames = Array.from({ length: 200 }, (_, at) => `n${at % 100}`);
  const distinct = previousNames.slice(0, 100);
  const annotations = { 'heddle.dev/previous-names': previousNames.join(',') };
  expect(withMetadata({ previousNames }).documents[0]?.metadata.previousNames).toEqual(distinct);
  expect(withMetadata({ annotations }).documents[0]?.metadata.previousNames).toEqual(distinct);
  expect(withMetadata({ annotations, previousNames: distinct }).problems).toEqual([]);
  expect(withMetadata({ previousNames: ['b', 'b', 'C', 'C'] }).problems).toMatchObject([
    { code: 'name_invalid', path: '/metadata/previousNames/2' },
  ]);
});

test('the problems of a revision are truncated, but each file with problems keeps at least one', async () => {
  const reader = createReader();
  const files = Array.from({ length: 30 }, (_, at) => ({ path: `${at}.yaml`, text: `{${'a,'.repeat(500 + at)}}` }));
  const { problems } = await reader.read(files);
  expect(problems.length).toBeLessThan(1500);
  expect(new Set(problems.map(({ file }) => file)).size).toBe(30);
  await reader.close();
});
