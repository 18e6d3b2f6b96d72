import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/documents/digest.ts';
import { findDuplicates } from '../../src/documents/duplicates.ts';
import { readFile } from '../../src/documents/read.ts';
import { group, onlyProblem, read, specLine } from './sample.ts';

describe('values', () => {
  test('E1: country: NO and other words of YAML 1.1 stay strings', () => {
    const { documents, problems } = read(
      group('a', ' {country: NO, mode: on, time: 22:22, date: 2024-01-01, octal: "0777"}'),
    );
    expect(problems).toEqual([]);
    expect(documents[0]?.spec).toEqual({ country: 'NO', mode: 'on', time: '22:22', date: '2024-01-01', octal: '0777' });
  });

  test('E3: an unquoted version is read as a number, for the model to refuse with the source text', () => {
    expect(read(group('a', ' {version: 1.10, port: 0x10}')).documents[0]?.spec).toEqual({ version: 1.1, port: 16 });
  });

  test('E17: display names that differ in case only are two values', () => {
    const text = `${group('a', ' {name: Devs}')}---\n${group('b', ' {name: devs}')}`;
    expect(read(text).documents.map(({ spec }) => spec['name'])).toEqual(['Devs', 'devs']);
  });
});

const refused: readonly (readonly [
  string,
  string,
  { code: string; line: number; column: number; path: string; says: string },
])[] = [
  [
    'E2: %YAML 1.1',
    `%YAML 1.1\n---\n${group('a')}`,
    { code: 'yaml_directive', line: 1, column: 1, path: '', says: 'remove the line' },
  ],
  [
    'E2: %YAML 1.2 too',
    `%YAML 1.2\n---\n${group('a')}`,
    { code: 'yaml_directive', line: 1, column: 1, path: '', says: 'remove' },
  ],
  [
    'E2: %TAG',
    `%TAG !e! tag:e,2000:\n---\n${group('a')}`,
    { code: 'yaml_directive', line: 1, column: 1, path: '', says: 'remove' },
  ],
  [
    'E4: a duplicate key, at the second key',
    group('a', '\n  x: 1\n  x: 2'),
    { code: 'key_duplicate', line: 7, column: 3, path: '/spec/x', says: 'twice' },
  ],
  [
    'E4: keys that are equal after unquoting',
    group('a', ' {x: 1, "x": 2}'),
    { code: 'key_duplicate', line: 5, column: 14, path: '/spec/x', says: 'remove one' },
  ],
  [
    'E8: a tab as indentation',
    group('a', '\n\tx: 1'),
    { code: 'yaml_tab', line: 6, column: 1, path: '', says: 'use spaces' },
  ],
  [
    'E9: an anchor',
    group('a', ' {x: &y 1}'),
    { code: 'yaml_anchor', line: 5, column: 14, path: '/spec/x', says: 'quote it: "&y"' },
  ],
  [
    'E9: an anchor on a map',
    group('a', ' &y {x: 1}'),
    { code: 'yaml_anchor', line: 5, column: 10, path: '/spec', says: 'write the value out' },
  ],
  [
    'E9: an anchor on a key',
    group('a', ' {&y x: 1}'),
    { code: 'yaml_anchor', line: 5, column: 11, path: '/spec/x', says: 'not allowed' },
  ],
  [
    'E9: an alias',
    group('a', ' {x: *y}'),
    { code: 'yaml_alias', line: 5, column: 11, path: '/spec/x', says: 'quote it: "*y"' },
  ],
  [
    'E9: a merge key',
    group('a', ' {<<: {x: 1}}'),
    { code: 'yaml_merge_key', line: 5, column: 8, path: '/spec/<<', says: 'write the members out' },
  ],
  [
    'E9: a known tag',
    group('a', ' {x: !!int "3"}'),
    { code: 'yaml_tag', line: 5, column: 17, path: '/spec/x', says: '`!!int`' },
  ],
  [
    'E9: a binary tag',
    group('a', ' {x: !!binary aGk=}'),
    { code: 'yaml_tag', line: 5, column: 20, path: '/spec/x', says: 'remove it' },
  ],
  [
    'E9: an unknown tag',
    group('a', ' {x: !env HOME}'),
    { code: 'yaml_tag', line: 5, column: 16, path: '/spec/x', says: '`!env`' },
  ],
  [
    'E9: the non-specific tag',
    group('a', ' {x: ! y}'),
    { code: 'yaml_tag', line: 5, column: 13, path: '/spec/x', says: '`!`' },
  ],
  [
    'E9: a tag on a map',
    group('a', ' !!map {x: y}'),
    { code: 'yaml_tag', line: 5, column: 13, path: '/spec', says: '`!!map`' },
  ],
  [
    'E10: an unquoted wildcard',
    group('a', ' {x: *.example.com}'),
    { code: 'yaml_alias', line: 5, column: 11, path: '/spec/x', says: 'quote it: "*.example.com"' },
  ],
  [
    'E10: a star alone',
    group('a', '\n  x: *'),
    { code: 'yaml_invalid', line: 6, column: 6, path: '', says: 'quote it: "*"' },
  ],
  [
    'E10: a wildcard as a key',
    group('a', '\n  *.example.com: x'),
    { code: 'yaml_invalid', line: 6, column: 18, path: '', says: 'quote it: "*.example.com"' },
  ],
  [
    'E11: NUL',
    group('a', ' {x: "\\0"}'),
    { code: 'string_nul', line: 5, column: 11, path: '/spec/x', says: 'remove it' },
  ],
  [
    'E11: NUL in a key',
    group('a', ' {"\\0": 1}'),
    { code: 'string_nul', line: 5, column: 8, path: '/spec/\0', says: 'remove it' },
  ],
  [
    'E11: a lone surrogate',
    group('a', ' {x: "\\ud800"}'),
    { code: 'string_surrogate', line: 5, column: 11, path: '/spec/x', says: 'both halves' },
  ],
  [
    'E11: 2^53+1',
    group('a', ' {x: [9007199254740993]}'),
    { code: 'number_unsafe', line: 5, column: 12, path: '/spec/x/0', says: 'quote it: "9007199254740993"' },
  ],
  [
    'E11: an exponent that was meant as a SHA',
    group('a', ' {x: 1234e56}'),
    { code: 'number_unsafe', line: 5, column: 11, path: '/spec/x', says: 'quote it: "1234e56"' },
  ],
  [
    'E11: infinity',
    group('a', ' {x: .inf}'),
    { code: 'number_not_finite', line: 5, column: 11, path: '/spec/x', says: 'quote it: ".inf"' },
  ],
  [
    'E11: not a number',
    group('a', ' {x: .nan}'),
    { code: 'number_not_finite', line: 5, column: 11, path: '/spec/x', says: 'write a number' },
  ],
  [
    'E11: an overflow',
    group('a', ' {x: 1e999}'),
    { code: 'number_not_finite', line: 5, column: 11, path: '/spec/x', says: 'quote it: "1e999"' },
  ],
  [
    'a byte order mark inside the stream',
    group('a', ' {x: "\ufeff"}'),
    { code: 'yaml_byte_order_mark', line: 5, column: 12, path: '', says: 'remove it' },
  ],
  [
    'the key __proto__',
    group('a', ' {__proto__: {x: 1}}'),
    { code: 'key_forbidden', line: 5, column: 8, path: '/spec/__proto__', says: 'rename' },
  ],
  [
    'a colon without a key',
    group('a', '\n  : x'),
    { code: 'key_missing', line: 6, column: 3, path: '/spec/', says: 'write the key' },
  ],
  [
    'a list as a key',
    group('a', '\n  ? [x]\n  : y'),
    { code: 'yaml_invalid', line: 6, column: 5, path: '', says: 'plain word' },
  ],
  [
    'a reserved character',
    group('a', ' {x: @y}'),
    { code: 'yaml_invalid', line: 5, column: 11, path: '', says: 'quote it: "@y"' },
  ],
  [
    'two colons in a line',
    group('a', '\n  x: y: z'),
    { code: 'yaml_invalid', line: 6, column: 6, path: '', says: 'quote it' },
  ],
  [
    'an unknown member',
    group('a').replace('spec', 'spek'),
    { code: 'member_unknown', line: 5, column: 1, path: '/spek', says: 'did you mean `spec`?' },
  ],
  [
    'status, which the envelope does not have',
    `${group('a')}status: {}\n`,
    { code: 'member_unknown', line: 6, column: 1, path: '/status', says: 'known are' },
  ],
  [
    'an unknown member of metadata',
    group('a\n  labls: {}'),
    { code: 'member_unknown', line: 5, column: 3, path: '/metadata/labls', says: 'did you mean `labels`?' },
  ],
  [
    'E13: another version',
    group('a').replace('/v1', '/v2'),
    {
      code: 'api_version_unknown',
      line: 1,
      column: 13,
      path: '/apiVersion',
      says: 'write `apiVersion: heddle.dev/v1`',
    },
  ],
  [
    'E13: another spelling',
    group('a').replace('heddle', 'Heddle'),
    { code: 'api_version_unknown', line: 1, column: 13, path: '/apiVersion', says: 'heddle.dev/v1' },
  ],
  [
    'E13: no apiVersion',
    group('a').replace(/^.*\n/, ''),
    { code: 'api_version_unknown', line: 1, column: 1, path: '/apiVersion', says: 'is missing' },
  ],
  [
    'E13: a kind that is no text',
    group('a').replace('Group', '3'),
    { code: 'kind_invalid', line: 2, column: 7, path: '/kind', says: 'kind: Group' },
  ],
  [
    'E16: a composed letter in a name',
    group('caf\u00e9'),
    { code: 'name_invalid', line: 4, column: 9, path: '/metadata/name', says: 'write "cafe"' },
  ],
  [
    'E16: a decomposed letter in a name',
    group('cafe\u0301'),
    { code: 'name_invalid', line: 4, column: 9, path: '/metadata/name', says: 'write "cafe"' },
  ],
  [
    'E16: upper case and blanks in a name',
    group('"My Devs"'),
    { code: 'name_invalid', line: 4, column: 9, path: '/metadata/name', says: 'write "my-devs"' },
  ],
  [
    'a name of 254 characters',
    group('a'.repeat(254)),
    { code: 'name_invalid', line: 4, column: 9, path: '/metadata/name', says: 'shorten' },
  ],
  [
    'a name that is a number',
    group('1.10'),
    { code: 'name_invalid', line: 4, column: 9, path: '/metadata/name', says: 'quote it: "1.10"' },
  ],
  [
    'no name',
    group('a').replace('name: a', 'labels: {}'),
    { code: 'name_missing', line: 3, column: 1, path: '/metadata/name', says: 'write the stable name' },
  ],
  [
    'a label that is a number',
    group('a\n  labels: {v: 1.10}'),
    { code: 'metadata_invalid', line: 5, column: 15, path: '/metadata/labels/v', says: 'quote it: "1.10"' },
  ],
  [
    'annotations that are a list',
    group('a\n  annotations: [x]'),
    { code: 'metadata_invalid', line: 5, column: 3, path: '/metadata/annotations', says: 'map' },
  ],
  [
    'a bad previous name',
    group('a\n  previousNames: [b, C]'),
    { code: 'name_invalid', line: 5, column: 22, path: '/metadata/previousNames/1', says: 'write "c"' },
  ],
  [
    'previous names that are one text',
    group('a\n  previousNames: b'),
    { code: 'metadata_invalid', line: 5, column: 18, path: '/metadata/previousNames', says: 'list' },
  ],
  [
    'a spec that is a list',
    group('a', ' [x]'),
    { code: 'spec_invalid', line: 5, column: 1, path: '/spec', says: 'must be a map' },
  ],
  [
    'an empty spec',
    group('a', ''),
    { code: 'spec_invalid', line: 5, column: 1, path: '/spec', says: 'leave `spec` out' },
  ],
  [
    'a document that is a list',
    '- a\n',
    { code: 'document_invalid', line: 1, column: 1, path: '', says: 'write a map' },
  ],
  ['a written null', '~\n', { code: 'document_invalid', line: 1, column: 1, path: '', says: 'write a map' }],
];

describe('refuses with place and hint', () => {
  test.each(refused)('%s', (_, text, { says, ...expected }) => {
    const problem = onlyProblem(text);
    expect(problem).toMatchObject({ ...expected, file: 'a.yaml' });
    expect(problem.message).toContain(says);
  });

  test('every problem ends with what to do', () => {
    for (const [, text] of refused) expect(onlyProblem(text).message).toMatch(/[;,.] .+[.?"\w`]$/);
  });
});

describe('documents of a file', () => {
  test('E5: the same kind and name twice in a file and in two files names both positions', () => {
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

  test('E5: the same name in two kinds is no duplicate', () => {
    const text = `${group('x')}---\n${group('x').replace('Group', 'Policy')}`;
    expect(findDuplicates([read(text).documents])).toEqual([]);
  });

  test('E6: a broken document is reported, and so are the problems of all other documents', () => {
    const { documents, problems } = read([group('a', ' {x: [1'), group('good'), group('B')].join('---\n'));
    expect(problems.map(({ code, line }) => [code, line])).toEqual([
      ['yaml_invalid', 6],
      ['name_invalid', 16],
    ]);
    expect(documents.map(({ metadata }) => metadata.name)).toEqual(['good']);
  });

  test('E6: all problems of one document come at once, without echoes of the same fault', () => {
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
  ])('E7: %s is zero documents', (_, text) => {
    expect(read(text)).toEqual({ documents: [], problems: [] });
  });

  test('E7: a trailing separator adds no document, and empty ones count for the index', () => {
    const { documents, problems } = read(`---\n---\n# a comment\n${group('a')}---\n`);
    expect(problems).toEqual([]);
    expect(documents.map(({ place }) => place)).toEqual([{ file: 'a.yaml', line: 4, index: 1, pointer: '' }]);
  });

  test('E12: unknown fields of the spec are kept, for the model to refuse', () => {
    expect(read(group('a', ' {nmae: x}')).documents[0]?.spec).toEqual({ nmae: 'x' });
  });

  test('E13: an unknown kind is kept, for the model to refuse', () => {
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

  test('an absent spec is an empty one, and metadata is kept whole', () => {
    const metadata = {
      name: 'a.b-1',
      previousNames: ['c'],
      labels: { team: 'data' },
      annotations: { 'heddle.dev/adopt': 'id:1' },
    };
    const { documents, problems } = read(JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'Group', metadata }));
    expect(problems).toEqual([]);
    expect(documents).toEqual([
      { kind: 'Group', metadata, spec: {}, place: { file: 'a.yaml', line: 1, index: 0, pointer: '' } },
    ]);
  });

  test('problems of an object carry its kind and key', () => {
    expect(onlyProblem(group('a', ' 3'))).toMatchObject({ kind: 'Group', key: 'a' });
    expect(specLine).toBe(onlyProblem(group('a', ' 3')).line);
  });
});
