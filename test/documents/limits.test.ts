import { expect, test } from 'vitest';
import { limits } from '../../src/documents/limits.ts';
import { createReader } from '../../src/documents/reader.ts';
import { parseYaml } from '../../src/documents/yaml/yaml.ts';
import { hasMoreValuesThan } from '../../src/documents/yaml/yaml-text.ts';
import { group, onlyProblem, read } from './sample.ts';

const padded = (bytes: number) => group('a') + '#'.repeat(bytes - group('a').length);
const nested = (depth: number) => group('a', ` {x: ${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`);
const json = (count: number) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: Array.from({ length: count }, (_, index) => ({
      apiVersion: 'heddle.dev/v1',
      kind: 'A',
      metadata: { name: `a${index}` },
    })),
  });

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

test('E15: nesting that exhausts the parser is reported as document_too_deep', () => {
  expect(onlyProblem('['.repeat(100_000)).code).toBe('document_too_deep');
});

test('E15: a file with more values than allowed is refused', () => {
  const { documents, problems } = read(group('a', ` {x: [${'0,'.repeat(limits.fileNodes)}]}`));
  expect(documents).toEqual([]);
  expect(problems).toMatchObject([{ code: 'file_too_large', file: 'a.yaml' }]);
});

test.each([
  ['[0, "a", \'b\']', 4],
  ['- a\n- b: c\n', 5],
  ['--- a\n--- b\n', 4],
])('the values of a text are counted before parsing, and never overestimated: %j', (text, count) => {
  expect([hasMoreValuesThan(text, count - 1), hasMoreValuesThan(text, count)]).toEqual([true, false]);
});

test('a text with too many values is refused without creating them, within 96 MiB of heap', async () => {
  // Creating the values would take more than 500 MB.
  const reader = createReader({ heapMebibytes: 96 });
  const text = group('a', ` {x: [${'0,'.repeat(limits.fileNodes)}]}`);
  const { problems } = await reader.read([{ path: 'a.yaml', text }]);
  expect(problems).toMatchObject([{ code: 'file_too_large' }]);
  await reader.close();
});

test('parser errors carry no stack traces, because a text may cause a million of them', () => {
  const before = Error.stackTraceLimit;
  const [error] = parseYaml('a: [').documents.flatMap(({ errors }) => errors);
  expect(error?.stack).toBe(`${error?.name}: ${error?.message}`);
  expect(Error.stackTraceLimit).toBe(before);
});

test('reading 160,000 errors in one line takes time in proportion to their number', () => {
  const time = (text: string) => {
    const start = performance.now();
    expect(read(text).problems.length).toBeGreaterThan(0);
    return performance.now() - start;
  };
  const short = Math.min(...[1, 2, 3].map(() => time('"'.repeat(20_000))));
  expect(time('"'.repeat(160_000))).toBeLessThan(40 * short + 200);
});

test('locating a thousand problems in a map of 30,000 members does not scan the map for each problem', () => {
  const labels = (count: number) => Array.from({ length: count }, (_, at) => `    k${at}: 1`).join('\n');
  const text = group('a').replace('spec:', `  labels:\n${labels(30_000)}\nspec:`);
  const start = performance.now();
  expect(read(text).problems).toHaveLength(limits.fileProblems + 1);
  const plain = performance.now();
  expect(read(text.replaceAll(': 1', ': "1"')).problems).toEqual([]);
  expect(plain - start).toBeLessThan(4 * (performance.now() - plain) + 200);
});

test.each([
  ['in one document', `{${'a,'.repeat(200_000)}}`, 'key_duplicate'],
  ['in a List', `apiVersion: v1\nkind: List\nitems:\n${'- a\n'.repeat(150_000)}`, 'document_invalid'],
  ['in many documents', '--- a\n'.repeat(5_000), 'document_invalid'],
])('a hundred thousand problems %s are truncated to the first thousand and a note', (_, text, code) => {
  const { problems } = read(text);
  expect(problems).toHaveLength(limits.fileProblems + 1);
  expect(problems[0]?.code).toBe(code);
  expect(problems.filter((problem) => problem.code === 'file_too_many_problems')).toHaveLength(1);
});

test('a key of a megabyte is shortened in messages and paths', () => {
  const key = 'k'.repeat(1_000_000);
  const { problems } = read(`${group('a', `\n  ? ${key}\n  : [*a, &b c]\n`)}? ${key}\n: 1\n`);
  expect(problems.map((problem) => problem.code)).toEqual(['yaml_alias', 'yaml_anchor', 'member_unknown']);
  expect(JSON.stringify(problems).length).toBeLessThan(5000);
});

test('E15: 50,000 documents are read, in one file or several, and one more is refused', async () => {
  const reader = createReader();
  const part = { path: 'a.json', text: json(25_000) };
  const other = { path: 'b.json', text: json(25_000).replaceAll('"A"', '"B"') };
  const most = await reader.read([part, other]);
  expect([most.documents.length, most.problems]).toEqual([limits.revisionDocuments, []]);
  const more = await reader.read([part, other, { path: 'c.yaml', text: group('c') }]);
  expect(more).toMatchObject({ documents: [], problems: [{ code: 'revision_too_many_documents' }] });
  await reader.close();
});

test('E15: 64 MiB are read, and one byte more is refused before anything is parsed', async () => {
  const reader = createReader();
  const text = '#'.repeat(limits.fileBytes);
  const files = Array.from({ length: 16 }, (_, index) => ({ path: `${index}.yaml`, text }));
  expect(await reader.read(files)).toEqual({ documents: [], problems: [], foreign: [] });
  const before = reader.stats();
  const result = await reader.read([...files, { path: 'one-more.yaml', text: '#' }]);
  expect(result).toMatchObject({ documents: [], problems: [{ code: 'revision_too_large' }] });
  expect(reader.stats()).toEqual(before);
  await reader.close();
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

test('a repeated previous name counts once, and its fault is reported at its first place', () => {
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
