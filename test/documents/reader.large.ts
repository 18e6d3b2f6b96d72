import { expect, test } from 'vitest';
import { Unavailable } from '../../src/model/errors.ts';
import { file, openReaders } from './readers.ts';
import { group } from './sample.ts';

const open = openReaders();

test('the reader reads a file that timed out on a busy machine later, with the usual result', async () => {
  const text = file('a.yaml', `x: [${'0,'.repeat(100_000)}]`);
  const reader = open({ timeoutMs: 1 });
  await expect(reader.read([text])).rejects.toBeInstanceOf(Unavailable);
  expect(await open().read([text])).toMatchObject({
    documents: [],
    problems: [],
    foreign: [{ problems: [{ code: 'api_version_unknown' }, {}, {}, {}] }],
  });
});

test('the reader rejects as unavailable when a thread runs out of memory, and reads the next file', async () => {
  const reader = open({ heapMebibytes: 48 });
  const large = file('large.yaml', `x: [${'{a: 1},'.repeat(100_000)}]`);
  const reading = reader.read([large]);
  await expect(reading).rejects.toThrow(/was stopped, most likely because memory ran out; try again/);
  await expect(reading).rejects.toBeInstanceOf(Unavailable);
  expect((await reader.read([file('a.yaml', group('a'))])).documents).toHaveLength(1);
});

test('the reader rejects as unavailable when a file is not read in time, and reads the next file', async () => {
  const slow = file('slow.yaml', `x: [${'0,'.repeat(900_000)}]`);
  const reader = open({ timeoutMs: 200 });
  await expect(reader.read([slow])).rejects.toThrow(/longer than 0.2 s.*try again/);
  await expect(reader.read([slow])).rejects.toBeInstanceOf(Unavailable);
  expect((await reader.read([file('a.yaml', group('a'))])).documents).toHaveLength(1);
});
