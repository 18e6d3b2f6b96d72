import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeDocuments } from '../../src/documents/write.ts';
import type { Json } from '../../src/lib/json.ts';
import { read } from './sample.ts';

test('documents are written with members in order, separators and comments, without line folding or aliases', () => {
  const ports = ['5432'];
  const text = writeDocuments([
    {
      kind: 'Policy',
      metadata: { name: 'p' },
      spec: { b: ports, a: ports, text: 'word '.repeat(40).trim() },
      comment: 'one\ntwo',
    },
    { kind: 'Group', metadata: { name: 'g', labels: { country: 'NO' } }, spec: {} },
  ]);
  expect(text).toBe(`# one
# two
apiVersion: heddle.dev/v1
kind: Policy
metadata:
  name: p
spec:
  b:
    - "5432"
  a:
    - "5432"
  text: ${'word '.repeat(40).trim()}
---
apiVersion: heddle.dev/v1
kind: Group
metadata:
  name: g
  labels:
    country: "NO"
spec: {}
`);
});

test('no documents are written as an empty text', () => {
  expect(writeDocuments([])).toBe('');
});

const traps = [
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

test.each(traps)('the text %j is read back unchanged as a value, a key and an element', (trap) => {
  // Names of labels are limited to 255 characters.
  const label = trap.slice(0, 255);
  const spec = { value: trap, [trap]: 1, list: [trap, [trap]], map: { [trap]: { [trap]: trap } } };
  const written = writeDocuments([
    { kind: 'K', metadata: { name: 'a', labels: { [label]: trap } }, spec, comment: trap },
  ]);
  const { documents, problems } = read(written);
  expect(problems).toEqual([]);
  expect(documents[0]?.spec).toEqual(spec);
  expect(documents[0]?.metadata.labels).toEqual({ [label]: trap });
});

test('written documents are read back to the same values, and written again to the same text', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(key, json, { maxKeys: 5 }), { minLength: 1, maxLength: 3 }), (specs) => {
      const documents = specs.map((spec, index) => ({ kind: 'K', metadata: { name: `a${index}` }, spec }));
      const written = writeDocuments(documents);
      const result = read(written);
      expect(result.problems).toEqual([]);
      expect(result.documents.map(({ spec }) => spec)).toEqual(specs.map((spec) => ({ ...spec })));
      expect(writeDocuments(result.documents)).toBe(written);
    }),
    { numRuns: 1000 },
  );
});

test('multi-line texts are written as block scalars, with and without a final newline', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const text = writeDocuments([{ kind: 'K', metadata: { name: 'n' }, spec: { pem, open: 'a\nb', list: [pem] } }]);
  expect(text).toContain(`  pem: |\n    -----BEGIN CERTIFICATE-----\n    MIIB\n    -----END CERTIFICATE-----\n`);
  expect(text).toContain('  open: |-\n    a\n    b\n');
  expect(text).toContain('  list:\n    - |\n      -----BEGIN CERTIFICATE-----\n');
});
