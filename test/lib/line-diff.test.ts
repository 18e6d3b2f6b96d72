import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineDiff } from '../../src/lib/line-diff.ts';

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

test('a diff shows changes with three lines of context, and distant changes in separate hunks', () => {
  const before = Array.from({ length: 20 }, (_, at) => String(at + 1));
  const after = before.flatMap((line) => (line === '2' ? [] : line === '15' ? ['15', 'new'] : [line]));
  expect(lineDiff(text(before), text(after))).toBe(
    '@@ -1,5 +1,4 @@\n 1\n-2\n 3\n 4\n 5\n@@ -13,6 +12,7 @@\n 13\n 14\n 15\n+new\n 16\n 17\n 18\n',
  );
  expect(lineDiff('', 'a\n')).toBe('@@ -0,0 +1,1 @@\n+a\n');
  expect(lineDiff('a\n', 'a\n')).toBe('');
});

test('a diff has the line counts of its header, and is empty only for equal texts', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const shown = lineDiff(text(before), text(after)).split('\n');
      const side = (sign: string) => shown.filter((line) => line.startsWith(sign) || line.startsWith(' ')).length;
      const [, , removed, , added] = /^@@ -(\d+),(\d+) \+(\d+),(\d+)/.exec(shown[0] ?? '') ?? [];
      const hunks = shown.filter((line) => line.startsWith('@@')).length;
      expect(hunks === 0).toBe(text(before) === text(after));
      if (hunks === 1) expect([side('-'), side('+')]).toEqual([Number(removed), Number(added)]);
    }),
  );
});

test('long texts without a common line are shown in one hunk', () => {
  const many = (word: string) => text(Array.from({ length: 2100 }, (_, at) => `${word} ${at}`));
  expect(lineDiff(many('a'), many('b')).split('\n').slice(0, 2)).toEqual(['@@ -1,2100 +1,2100 @@', '-a 0']);
});
