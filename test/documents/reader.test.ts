import { afterEach, expect, test } from 'vitest';
import { createReader, type Reader, type ReaderOptions } from '../../src/documents/reader.ts';
import { group } from './sample.ts';

let opened: Reader[] = [];
const open = (options?: ReaderOptions) => {
  const reader = createReader(options);
  opened.push(reader);
  return reader;
};
afterEach(async () => {
  await Promise.all(opened.map((reader) => reader.close()));
  opened = [];
});

const file = (path: string, text: string) => ({ path, text });

test('reads files in order and places documents and problems in them', async () => {
  const result = await open().read([
    file('b.yaml', group('b')),
    file('a.yaml', group('a')),
    file('c.yaml', group('C')),
  ]);
  expect(result.documents.map(({ metadata, place }) => [metadata.name, place.file])).toEqual([
    ['b', 'b.yaml'],
    ['a', 'a.yaml'],
  ]);
  expect(result.problems).toMatchObject([{ code: 'name_invalid', file: 'c.yaml', line: 4, column: 9 }]);
});

test('parses only what changed, whatever the files are called', async () => {
  const reader = open();
  await reader.read([file('a.yaml', group('a')), file('b.yaml', group('b'))]);
  const moved = await reader.read([file('moved.yaml', group('a')), file('b.yaml', group('changed'))]);
  expect(reader.stats()).toEqual({ parsed: 3, reused: 1 });
  expect(moved.documents[0]?.place.file).toBe('moved.yaml');
});

test('E14: line ends and a byte order mark make no other content', async () => {
  const reader = open();
  await reader.read([file('a.yaml', group('a'))]);
  await reader.read([file('a.yaml', `\ufeff${group('a').replaceAll('\n', '\r\n')}`)]);
  expect(reader.stats()).toEqual({ parsed: 1, reused: 1 });
});

test('forgets what was not asked for the longest when the cache is full', async () => {
  const reader = open({ cacheBytes: 500 });
  const [a, b, c] = [file('a', group('a')), file('b', group('b')), file('c', group('c'))];
  // Each takes about 130 bytes, so three fit and four do not.
  await reader.read([a, b, c]);
  await reader.read([a, file('d', group('d'))]);
  await reader.read([a]);
  expect(reader.stats()).toEqual({ parsed: 4, reused: 2 });
  await reader.read([b]);
  expect(reader.stats()).toEqual({ parsed: 5, reused: 2 });
});

test('E5: the same kind and name in two files is a problem that names both', async () => {
  const { problems } = await open().read([file('a.yaml', group('x')), file('b.yaml', group('x'))]);
  expect(problems).toMatchObject([{ code: 'document_duplicate', file: 'b.yaml', line: 1 }]);
  expect(problems[0]?.message).toContain('a.yaml:1 and at b.yaml:1');
});

test('a file that takes too long is a problem, and the reader goes on with a new worker', async () => {
  const slow = `x: [${'0,'.repeat(1_500_000)}]`;
  const result = await open({ fileMilliseconds: 1000 }).read([file('slow.yaml', slow), file('a.yaml', group('a'))]);
  expect(result.problems).toMatchObject([{ code: 'file_too_slow', file: 'slow.yaml', line: 1, column: 1 }]);
  expect(result.documents).toHaveLength(1);
});

test('what is small may be read without a worker, with the same result', async () => {
  const files = [file('a.yaml', `${group('a')}---\n${group('B')}`), file('b.json', '{"a":1}'), file('c.yaml', 'x: [')];
  expect(await open({ charactersHere: 1000 }).read(files)).toEqual(await open().read(files));
});

test('an aborted reading rejects with the reason, and the next one works', async () => {
  const reader = open();
  const abort = new AbortController();
  const reading = reader.read([file('slow.yaml', `x: [${'0,'.repeat(1_000_000)}]`)], abort.signal);
  abort.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  expect((await reader.read([file('a.yaml', group('a'))])).documents).toHaveLength(1);
});

test('readings at the same time are answered one after the other', async () => {
  const reader = open();
  const results = await Promise.all(['a', 'b', 'c'].map((name) => reader.read([file(name, group(name))])));
  expect(results.map(({ documents }) => documents[0]?.metadata.name)).toEqual(['a', 'b', 'c']);
});

test('a closed reader says so, also to who waits for an answer', async () => {
  const reader = open();
  const reading = reader.read([file('slow.yaml', `x: [${'0,'.repeat(1_000_000)}]`)]);
  const refused = expect(reading).rejects.toThrow('closed');
  await reader.close();
  await refused;
  await expect(reader.read([file('a.yaml', group('a'))])).rejects.toThrow('closed');
});
