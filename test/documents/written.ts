import fc from 'fast-check';
import { expect } from 'vitest';
import { writeDocuments } from '../../src/documents/write.ts';
import type { Json } from '../../src/lib/json.ts';
import { read } from './sample.ts';

/** Texts that YAML would read as something else if they were written as they are. */
export const traps = [
  '',
  ' ',
  'null',
  '~',
  'yes',
  'NO',
  '1.10',
  '1e3',
  '0x1F',
  '.inf',
  '<<',
  '*',
  '*.example.com',
  '&a',
  '!t',
  '%a',
  '@a',
  '`a`',
  '- a',
  'a: b',
  'a #b',
  '# a',
  '---',
  '...',
  '--- a',
  '\t',
  'a\n',
  '\na',
  'a\n\nb\n',
  ' a\nb',
  '\ta\nb',
  'a\r\nb',
  '\r',
  '\u0085',
  '\u2028',
  '\ufeff',
  'a\ufeffb\n',
  '"',
  "'",
  '\\',
  '\\uFEFF',
  'é',
  '😀',
  '\u0007',
  '\u007f',
  '{a}',
  '[a]',
  '?',
  '? a',
  ':',
  'a:',
  '=',
  'a\n---\nb',
  'a\n# b',
  'x'.repeat(1100),
  '\uffff',
  '\u{10ffff}',
];

const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...traps),
    fc.array(fc.constantFrom(...traps), { maxLength: 3 }).map((parts) => parts.join('')),
  )
  .filter((value) => value.isWellFormed() && !value.includes('\0'));
const number = fc
  .oneof(
    fc.maxSafeInteger(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value)),
  )
  .map((value) => value + 0);
const key = text.filter((value) => value !== '__proto__');
const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
}));

/** Writes random documents and reads them back. */
export function writeAndRead(runs: number): void {
  fc.assert(
    fc.property(fc.array(fc.dictionary(key, json, { maxKeys: 5 }), { minLength: 1, maxLength: 3 }), (specs) => {
      const documents = specs.map((spec, index) => ({ kind: 'K', metadata: { name: `a${index}` }, spec }));
      const written = writeDocuments(documents);
      const result = read(written);
      expect(result.problems).toEqual([]);
      expect(result.documents.map(({ spec }) => spec)).toEqual(specs.map((spec) => ({ ...spec })));
      expect(writeDocuments(result.documents)).toBe(written);
    }),
    { numRuns: runs },
  );
}
