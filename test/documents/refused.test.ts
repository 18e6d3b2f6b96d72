import { describe, expect, test } from 'vitest';
import { group, onlyProblem } from './sample.ts';

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
    'data, which the envelope does not have',
    `${group('a')}data: {}\n`,
    { code: 'member_unknown', line: 6, column: 1, path: '/data', says: 'known are' },
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
    'a label whose name is too long',
    group(`a\n  labels: {${'l'.repeat(318)}: v}`),
    {
      code: 'value_too_long',
      line: 5,
      column: 332,
      path: `/metadata/labels/${'l'.repeat(200)}… (318 characters)`,
      says: '317 characters',
    },
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
    'a bad previous name in the annotation',
    group('a\n  annotations: {heddle.dev/previous-names: "b, C"}'),
    {
      code: 'name_invalid',
      line: 5,
      column: 44,
      path: '/metadata/annotations/heddle.dev~1previous-names',
      says: 'write "c"',
    },
  ],
  [
    'previous names that contradict each other',
    group('a\n  previousNames: [b, c]\n  annotations: {heddle.dev/previous-names: b}'),
    {
      code: 'metadata_invalid',
      line: 6,
      column: 44,
      path: '/metadata/annotations/heddle.dev~1previous-names',
      says: 'leave one of them out',
    },
  ],
  [
    'a mistyped member of Kubernetes',
    group('a\n  namespce: b'),
    { code: 'member_unknown', line: 5, column: 13, path: '/metadata/namespce', says: 'did you mean `namespace`?' },
  ],
  [
    'a long value of one of our annotations',
    group(`a\n  annotations: {heddle.dev/adopt: "${'x'.repeat(4097)}"}`),
    {
      code: 'value_too_long',
      line: 5,
      column: 35,
      path: '/metadata/annotations/heddle.dev~1adopt',
      says: '4096',
    },
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

describe('an invalid document', () => {
  test.each(refused)('is refused with position and hint: %s', (_, text, { says, ...expected }) => {
    const problem = onlyProblem(text);
    expect(problem).toMatchObject({ ...expected, file: 'a.yaml' });
    expect(problem.message).toContain(says);
  });

  test('is refused with a message that ends with advice', () => {
    for (const [, text] of refused) expect(onlyProblem(text).message).toMatch(/[;,.] .+[.?"\w`]$/);
  });
});
