import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/documents/digest.ts';
import { findDuplicates } from '../../src/documents/duplicates.ts';
import { readFile } from '../../src/documents/read.ts';
import { group, onlyProblem, read, specLine } from './sample.ts';

describe('values of a document', () => {
  test('E1: country: NO and other words of YAML 1.1 are read as strings', () => {
    const { documents, problems } = read(
      group('a', ' {country: NO, mode: on, time: 22:22, date: 2024-01-01, octal: "0777"}'),
    );
    expect(problems).toEqual([]);
    expect(documents[0]?.spec).toEqual({ country: 'NO', mode: 'on', time: '22:22', date: '2024-01-01', octal: '0777' });
  });

  test('E3: an unquoted version is read as a number, so that the model can refuse it with the source text', () => {
    expect(read(group('a', ' {version: 1.10, port: 0x10}')).documents[0]?.spec).toEqual({ version: 1.1, port: 16 });
  });

  test('E17: display names that differ only in case are different values', () => {
    const text = `${group('a', ' {name: Devs}')}---\n${group('b', ' {name: devs}')}`;
    expect(read(text).documents.map(({ spec }) => spec['name'])).toEqual(['Devs', 'devs']);
  });
});

describe('documents of a file', () => {
  test('E5: the same kind and name twice, in one file or in two, is reported with both positions', () => {
    const first = readFile({ path: 'a.yaml', text: `${group('x')}---\n${group('x')}` });
    const second = readFile({ path: 'b.yaml', text: `# comment\n${group('x')}` });
    const duplicates = findDuplicates([first.documents, second.documents]);
    expect(duplicates).toMatchObject([
      { code: 'document_duplicate', kind: 'Group', key: 'x', file: 'a.yaml', line: 7 },
      { code: 'document_duplicate', kind: 'Group', key: 'x', file: 'b.yaml', line: 2 },
    ]);
    expect(duplicates[0]?.message).toContain('a.yaml:1 and at a.yaml:7');
    expect(duplicates[1]?.message).toContain('a.yaml:1 and at b.yaml:2');
  });

  test('E5: the same name in two kinds is not a duplicate', () => {
    const text = `${group('x')}---\n${group('x').replace('Group', 'Policy')}`;
    expect(findDuplicates([read(text).documents])).toEqual([]);
  });

  test('E6: a broken document is reported together with the problems of all other documents', () => {
    const { documents, problems } = read([group('a', ' {x: [1'), group('good'), group('B')].join('---\n'));
    expect(problems.map(({ code, line }) => [code, line])).toEqual([
      ['yaml_invalid', 6],
      ['name_invalid', 16],
    ]);
    expect(documents.map(({ metadata }) => metadata.name)).toEqual(['good']);
  });

  test('E6: all problems of one document are reported at once, each fault only once', () => {
    const { problems } = read(group('*x', ' {a: &b 1, a: 2, c: "\\0"}').replace('Group', '3'));
    expect(problems.map(({ code }) => code)).toEqual([
      'kind_invalid',
      'yaml_alias',
      'yaml_anchor',
      'key_duplicate',
      'string_nul',
    ]);
  });

  test.each([
    ['an empty file', ''],
    ['blank lines', '\n \n'],
    ['comments only', '# a\n# b\n'],
    ['separators only', '---\n---\n'],
    ['a separator and a comment', '---\n# a\n'],
    ['an end mark only', '...\n'],
  ])('E7: %s is read as zero documents', (_, text) => {
    expect(read(text)).toEqual({ documents: [], problems: [] });
  });

  test('E7: a trailing separator adds no document, and empty documents are included in the index', () => {
    const { documents, problems } = read(`---\n---\n# a comment\n${group('a')}---\n`);
    expect(problems).toEqual([]);
    expect(documents.map(({ position }) => position)).toEqual([{ file: 'a.yaml', line: 4, index: 1, pointer: '' }]);
  });

  test('E12: unknown fields of the spec are kept, so that the model can refuse them', () => {
    expect(read(group('a', ' {nmae: x}')).documents[0]?.spec).toEqual({ nmae: 'x' });
  });

  test('E13: an unknown kind is kept, so that the model can refuse it', () => {
    expect(read(group('a').replace('Group', 'Gruop')).documents[0]?.kind).toBe('Gruop');
  });

  test('E14: CRLF and a byte order mark at the start give the same documents and the same digest', () => {
    const text = `${group('a', '\n  text: |\n    one\n    two')}---\n${group('b')}`;
    const windows = `\ufeff${text.replaceAll('\n', '\r\n')}`;
    expect(read(windows)).toEqual(read(text));
    expect(read(text).documents[0]?.spec['text']).toBe('one\ntwo\n');
    expect(digestOf(windows)).toBe(digestOf(text));
    expect(digestOf(text)).toMatch(/^[0-9a-f]{64}$/);
    expect(digestOf(`${text}# more\n`)).not.toBe(digestOf(text));
  });

  test('a missing spec is read as an empty one, and all metadata is kept', () => {
    const metadata = {
      name: 'a.b-1',
      previousNames: ['c'],
      labels: { team: 'data' },
      annotations: { 'heddle.dev/adopt': 'id:1' },
    };
    const { documents, problems } = read(JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata }));
    expect(problems).toEqual([]);
    expect(documents).toEqual([
      { kind: 'Group', metadata, spec: {}, position: { file: 'a.yaml', line: 1, index: 0, pointer: '' } },
    ]);
  });

  test('problems of an object carry its kind and key', () => {
    expect(onlyProblem(group('a', ' 3'))).toMatchObject({ kind: 'Group', key: 'a' });
    expect(specLine).toBe(onlyProblem(group('a', ' 3')).line);
  });
});
