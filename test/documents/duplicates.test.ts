import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDuplicateFinder, findDuplicates } from '../../src/documents/duplicates.ts';
import type { Document } from '../../src/model/document.ts';

const document = (name: string, file: string, line: number): Document => ({
  kind: 'Group',
  metadata: { name },
  spec: {},
  position: { file, line, index: 0, pointer: '' },
});

/** Contents of files, as lists of documents. Each reading of a content gives the identical list. */
const contents = ['a', 'b', 'c', 'd', 'e', 'f', 'a b', 'g h', 'h g', 'i i', 'j', ''].map((names, at) =>
  names === '' ? [] : names.split(' ').map((name, line) => document(name, `${at}.yaml`, line + 1)),
);

it('the incremental duplicate finder reports the same as a full search, whatever was read before', () => {
  const readings = fc.array(fc.array(fc.nat(contents.length - 1), { maxLength: 9 }), { maxLength: 30 });
  fc.assert(
    fc.property(readings, (list) => {
      const find = createDuplicateFinder();
      for (const reading of list) {
        const files = reading.map((at) => contents[at] ?? []);
        expect(find(files)).toEqual(findDuplicates(files));
      }
    }),
    { numRuns: 300 },
  );
});

it('the duplicate finder keeps several sources apart', () => {
  const find = createDuplicateFinder();
  const clean = contents.slice(0, 6);
  const others = [...contents.slice(7, 8), ...contents.slice(10)];
  for (let round = 0; round < 3; round += 1) for (const files of [clean, others]) expect(find(files)).toEqual([]);
  expect(find([...clean, contents[6] ?? []])).toHaveLength(2);
  expect(find(clean)).toEqual([]);
});
