import { expect, test } from 'vitest';
import { limits } from '../../src/documents/limits.ts';
import { createReader } from '../../src/documents/reader.ts';
import { expectTruncated, group, onlyProblem, read } from './sample.ts';

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

test('E15: nesting that exhausts the parser is reported as document_too_deep', () => {
  expect(onlyProblem('['.repeat(100_000)).code).toBe('document_too_deep');
});

test('E15: a file with more values than allowed is refused', () => {
  const { documents, problems } = read(group('a', ` {x: [${'0,'.repeat(limits.fileNodes)}]}`));
  expect(documents).toEqual([]);
  expect(problems).toMatchObject([{ code: 'file_too_large', file: 'a.yaml' }]);
});

test('a text with too many values is refused without creating them, within 96 MiB of heap', async () => {
  // Creating the values would take more than 500 MB.
  const reader = createReader({ heapMebibytes: 96 });
  const text = group('a', ` {x: [${'0,'.repeat(limits.fileNodes)}]}`);
  const { problems } = await reader.read([{ path: 'a.yaml', text }]);
  expect(problems).toMatchObject([{ code: 'file_too_large' }]);
  await reader.close();
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

test.each([
  ['in one document', `{${'a,'.repeat(200_000)}}`, 'key_duplicate'],
  ['in a List', `apiVersion: v1\nkind: List\nitems:\n${'- a\n'.repeat(150_000)}`, 'document_invalid'],
])('a hundred thousand problems %s are truncated to the first thousand and a note', (_, text, code) => {
  expectTruncated(text, code);
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
