import { expect, test } from 'vitest';
import { writeDocuments } from '../../src/documents/write.ts';
import { read } from './sample.ts';
import { traps, writeAndRead } from './written.ts';

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

test('a few written documents are read back to the same values, and written again to the same text', () => {
  writeAndRead(40);
});

test('multi-line texts are written as block scalars, with and without a final newline', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const text = writeDocuments([{ kind: 'K', metadata: { name: 'n' }, spec: { pem, open: 'a\nb', list: [pem] } }]);
  expect(text).toContain(`  pem: |\n    -----BEGIN CERTIFICATE-----\n    MIIB\n    -----END CERTIFICATE-----\n`);
  expect(text).toContain('  open: |-\n    a\n    b\n');
  expect(text).toContain('  list:\n    - |\n      -----BEGIN CERTIFICATE-----\n');
});
