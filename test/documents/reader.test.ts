import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { limits } from '../../src/documents/limits.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { refuseThreads } from '../setup/threads.ts';
import { file, openReaders } from './readers.ts';
import { group } from './sample.ts';

const open = openReaders();

test('the reader reads files in order and reports the file of each document and problem', async () => {
  const result = await open().read([
    file('b.yaml', group('b')),
    file('a.yaml', group('a')),
    file('c.yaml', group('C')),
  ]);
  expect(result.documents.map(({ metadata, position }) => [metadata.name, position.file])).toEqual([
    ['b', 'b.yaml'],
    ['a', 'a.yaml'],
  ]);
  expect(result.problems).toMatchObject([{ code: 'name_invalid', file: 'c.yaml', line: 4, column: 9 }]);
});

test('the reader yields to other work while it reads thousands of empty files', async () => {
  let [turns, isOver] = [0, false];
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const { documents, problems } = await open().read(Array.from({ length: 20_000 }, (_, at) => file(`${at}`, '')));
  isOver = true;
  expect([documents, problems]).toEqual([[], []]);
  expect(turns).toBeGreaterThan(10);
});

test('the reader dispatches a few files at a time, so that no thread waits for all results to be collected', async () => {
  const files = Array.from({ length: 20 }, (_, at) => file(`${at}.yaml`, group(`group-${at}`)));
  const reader = open();
  const reading = reader.read(files);
  expect(reader.stats().parsed).toBe(8);
  const { documents } = await reading;
  expect(documents.map(({ metadata }) => metadata.name)).toEqual(files.map((_, at) => `group-${at}`));
});

test('the reader parses only changed content, even when files are renamed', async () => {
  const reader = open();
  await reader.read([file('a.yaml', group('a')), file('b.yaml', group('b'))]);
  const moved = await reader.read([file('moved.yaml', group('a')), file('b.yaml', group('changed'))]);
  expect(reader.stats()).toEqual({ parsed: 3, reused: 1 });
  expect(moved.documents[0]?.position.file).toBe('moved.yaml');
});

test('E14: the reader does not parse a file again when only line endings and the byte order mark differ', async () => {
  const reader = open();
  await reader.read([file('a.yaml', group('a'))]);
  await reader.read([file('a.yaml', `\ufeff${group('a').replaceAll('\n', '\r\n')}`)]);
  expect(reader.stats()).toEqual({ parsed: 1, reused: 1 });
});

test('the reader evicts the least recently used files when its cache is full', async () => {
  // With one thread, files are used in the order in which they are read.
  const reader = open({ cacheBytes: 420, threads: 1 });
  const [a, b, c] = [file('a', group('a')), file('b', group('b')), file('c', group('c'))];
  // Each file takes about 120 bytes of the cache, so three fit and four do not.
  await reader.read([a, b, c]);
  await reader.read([a, file('d', group('d'))]);
  await reader.read([a]);
  expect(reader.stats()).toEqual({ parsed: 4, reused: 2 });
  await reader.read([b]);
  expect(reader.stats()).toEqual({ parsed: 5, reused: 2 });
});

test('a reader without a cache parses the same text again', async () => {
  const reader = open({ cacheBytes: 0 });
  const one = file('a', group('a'));
  const [first, again] = [await reader.read([one]), await reader.read([one])];
  expect(again).toEqual(first);
  expect(reader.stats()).toEqual({ parsed: 2, reused: 0 });
});

test('E5: the reader reports the same kind and name in two files as a problem that names both', async () => {
  const { problems } = await open().read([file('a.yaml', group('x')), file('b.yaml', group('x'))]);
  expect(problems).toMatchObject([{ code: 'document_duplicate', file: 'b.yaml', line: 1 }]);
  expect(problems[0]?.message).toContain('a.yaml:1 and at b.yaml:1');
});

test('the reader rejects as unavailable while threads cannot be started, and reads files once they can', async () => {
  const reader = open({ threads: 2 });
  const read = (name: string) => reader.read([file(name, group(name))], { account: 'a' });
  {
    using _none = refuseThreads();
    const refused = await Promise.allSettled(['a', 'b', 'c'].map(read));
    for (const one of refused) expect(one).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
    await expect(read('d')).rejects.toThrow(/could not be started.*try again/);
  }
  expect((await read('e')).documents).toHaveLength(1);
});

test('the reader reads small files without a worker thread, with the same result', async () => {
  const files = [file('a.yaml', `${group('a')}---\n${group('B')}`), file('b.json', '{"a":1}'), file('c.yaml', 'x: [')];
  expect(await open({ maxInlineCharacters: 1000 }).read(files)).toEqual(await open().read(files));
});

test('the reader reads valid JSON without a worker thread, and finds the problems of invalid JSON in one', async () => {
  const json = (value: object) => file('a.json', JSON.stringify(value));
  const stated = { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'a' }, spec: {} };
  const reader = open();
  {
    using _none = refuseThreads();
    expect((await reader.read([json(stated)])).documents).toMatchObject([
      { kind: 'Group', position: { file: 'a.json' } },
    ]);
    await expect(reader.read([json({ ...stated, kind: 1 })])).rejects.toThrow(/could not be started/);
  }
  expect((await reader.read([json({ ...stated, kind: 1 })])).problems).toMatchObject([
    { code: 'kind_invalid', file: 'a.json', line: 1, column: expect.any(Number) },
  ]);
});

test('the reader rejects an aborted read with the reason, and reads the next file', async () => {
  const reader = open();
  const abort = new AbortController();
  const reading = reader.read([file('slow.yaml', `x: [${'0,'.repeat(1_000_000)}]`)], { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  expect((await reader.read([file('a.yaml', group('a'))])).documents).toHaveLength(1);
});

test('the reader leaves no listener on the signal after a read', async () => {
  const { signal } = new AbortController();
  await open().read([file('a.yaml', group('a')), file('b.yaml', group('b'))], { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('the reader refuses more files than a revision may hold before it reads any', async () => {
  const reader = open();
  const files = Array.from({ length: limits.revisionFiles + 1 }, (_, at) => file(`${at}.yaml`, ''));
  const { problems } = await reader.read(files);
  expect(problems).toMatchObject([{ code: 'revision_too_many_files' }]);
  expect(problems[0]?.message).toContain('contains 50001 files and may contain 50000; split it');
  expect(reader.stats()).toEqual({ parsed: 0, reused: 0 });
});

test('the reader does not let a small file of one account wait for the large files of another', async () => {
  const reader = open({ threads: 2 });
  const ended: string[] = [];
  const note = (name: string) => () => ended.push(name);
  const slow = Array.from({ length: 4 }, (_, at) =>
    reader.read([file('slow.yaml', `x: [${'0,'.repeat(150_000 + at)}]`)], { account: 'a' }).then(note(`slow ${at}`)),
  );
  await reader.read([file('b.yaml', group('b'))], { account: 'b' }).then(note('small'));
  expect(ended).toEqual(['small']);
  const over = Promise.allSettled(slow);
  await reader.close();
  await over;
});

test('the reader reads files of one account in all threads but one', async () => {
  const reader = open({ threads: 3 });
  const ended: string[] = [];
  const read = (name: string, text: string) =>
    reader.read([file(name, text)], { account: 'a' }).then(() => ended.push(name));
  const slow = read('slow', `x: [${'0,'.repeat(200_000)}]`);
  await read('small', group('b'));
  expect(ended).toEqual(['small']);
  await slow;
});

test('the reader reads only as many large files at the same time as it may', async () => {
  const reader = open({ threads: 4, largeThreads: 1 });
  const ended: string[] = [];
  const read = (account: string, text: string) => reader.read([file('a', text)], { account });
  const large = `x: [${'0,'.repeat(900_000)}]`;
  const reading = Promise.allSettled(
    ['a', 'b', 'c'].map((account) => read(account, large).then(() => ended.push(account))),
  );
  // With a second large file in a thread, one of the slow files would occupy the last thread, and the small one wait.
  const slow = ['d', 'e'].map((account) =>
    read(account, `x: [${'0,'.repeat(200_000)}]`).then(() => ended.push('slow')),
  );
  await read('f', group('f')).then(() => ended.push('small'));
  expect(ended).toEqual(['small']);
  await Promise.all(slow);
  await reader.close();
  await reading;
});

test('the reader serves accounts in turn, however many files one of them has', async () => {
  // With one thread, the order shows which account had its turn. `a2` waited already when the reads of `b` and `c`
  // arrived.
  const reader = open({ threads: 1 });
  const ended: string[] = [];
  const read = (account: string, name: string) =>
    reader.read([file(name, group(name))], { account }).then(() => ended.push(name));
  await Promise.all([...['a1', 'a2', 'a3', 'a4'].map((name) => read('a', name)), read('b', 'b1'), read('c', 'c1')]);
  expect(ended).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
});

test('the reader does not let reads that are aborted in the queue delay other reads', async () => {
  const reader = open({ threads: 1 });
  const abort = new AbortController();
  const slow = (at: number) => file('slow.yaml', `x: [${'0,'.repeat(1_000_000 + at)}]`);
  const asked = [1, 2, 3].map((at) => reader.read([slow(at)], { account: 'a', signal: abort.signal }));
  const refused = Promise.all(asked.map((one) => expect(one).rejects.toThrow('gone')));
  abort.abort(new Error('gone'));
  await refused;
  expect((await reader.read([file('a.yaml', group('a'))], { account: 'b' })).documents).toHaveLength(1);
  expect(reader.stats()).toEqual({ parsed: 4, reused: 0 });
});

test('the reader locates values in a worker thread too', async () => {
  const text = `${group('a')}---\n${group('b', '\n  x: 1.10')}`;
  const reader = open();
  const { documents } = await reader.read([file('a.yaml', text)]);
  const [, second] = documents;
  if (second === undefined) throw new Error('there are two documents');
  const positions = await reader.locate(file('a.yaml', text), [{ position: second.position, pointer: '/spec/x' }]);
  expect(positions).toEqual([{ line: 12, column: 6, source: '1.10' }]);
});

test('a closed reader rejects new and pending reads', async () => {
  const reader = open();
  const reading = reader.read([file('slow.yaml', `x: [${'0,'.repeat(1_000_000)}]`)]);
  const refused = expect(reading).rejects.toThrow('closed');
  await reader.close();
  await refused;
  await expect(reader.read([file('a.yaml', group('a'))])).rejects.toThrow('closed');
});
