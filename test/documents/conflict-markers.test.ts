import { describe, expect, it } from 'vitest';
import { readFile } from '../../src/documents/read.ts';
import { findMisindented } from '../../src/documents/yaml/indentation.ts';
import { growthOf, linear } from '../setup/growth.ts';

const head = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata: {name: g}\n';
/** Start of a reference to a shell variable. */
const open = '$' + '{';
const problemsOf = (text: string) =>
  readFile({ path: 'a.yaml', text }).problems.map(({ code, line, column }) => [code, line, column]);
const messageOf = (text: string) => readFile({ path: 'a.yaml', text }).problems[0]?.message;

describe('an unresolved merge conflict', () => {
  it('is reported once for each position, without other problems', () => {
    const conflict = '<<<<<<< HEAD\n  name: a\n=======\n  name: b\n>>>>>>> other\n';
    expect(problemsOf(`${head}spec:\n${conflict}---\n${head}spec:\n${conflict}`)).toEqual([
      ['merge_conflict', 5, 1],
      ['merge_conflict', 15, 1],
    ]);
    expect(messageOf(`${head}spec:\n${conflict}`)).toContain('remove the lines that begin with `<<<<<<<`');
    expect(problemsOf(`{"a":\n<<<<<<< HEAD\n1}\n`)).toEqual([['merge_conflict', 2, 1]]);
  });

  it('is not reported for conflict markers inside a text value', () => {
    expect(problemsOf(`${head}spec:\n  description: |\n    <<<<<<< HEAD\n`)).toEqual([]);
  });
});

describe('an unrendered template', () => {
  it.each([
    ['spec:\n  name: {{ .Values.name }}\n', 5, 10],
    ['spec:\n  name: {{ name }}-x\n', 5, 10],
    ['spec:\n{% if x %}\n  name: a\n', 5, 2],
    ['spec:\n{{- if .x }}\n  name: a\n', 5, 1],
    [`spec:\n  name: ${open}TEAM}\n`, 5, 9],
    [`spec:\n  name: "${open}TEAM:-x}"\n`, 5, 9],
    ["spec:\n  name: '{{ team }}'\n", 5, 9],
    ['spec:\n  name: <%= team %>\n', 5, 9],
    [`spec:\n  peers: [a, "${open}PEER}"]\n`, 5, 14],
  ])('is reported for %j', (spec, line, column) => {
    expect(problemsOf(head + spec)).toEqual([['template_leftover', line, column]]);
    expect(messageOf(head + spec)).toContain('is a template placeholder that was not filled in; render the file');
  });

  it('is reported in JSON too', () => {
    const document = {
      apiVersion: 'heddle.dev/v1',
      kind: 'Group',
      metadata: { name: 'g' },
      spec: { name: `${open}TEAM}` },
    };
    expect(problemsOf(JSON.stringify(document))).toEqual([['template_leftover', 1, expect.any(Number)]]);
  });

  it.each(['costs $5 {a}', `see ${open}HOME}/bin`, '{{ not closed', `$${open}x}`, 'a {{ b }}'])(
    'is not reported for %j',
    (text) => {
      expect(problemsOf(`${head}spec: {name: ${JSON.stringify(text)}}\n`)).toEqual([]);
    },
  );
});

describe('a wrongly indented line', () => {
  it.each([
    ['deeper than its neighbours', 'spec:\n  name: a\n   peers: [b]\n', 6, 4, '3 spaces', 'by 2'],
    ['between two levels', 'spec:\n  name: a\n peers: [b]\n', 6, 2, '1 space,', 'by 2'],
    ['an item', 'spec:\n  peers:\n    - a\n   - b\n', 7, 4, '3 spaces', 'by 4'],
    ['a member of an item', 'spec:\n  rules:\n    - name: a\n       action: b\n', 7, 8, '7 spaces', 'by 6'],
  ])('is reported with its line and column: %s', (_, spec, line, column, ...says) => {
    expect(problemsOf(head + spec)).toEqual([['yaml_indentation', line, column]]);
    for (const text of says) expect(messageOf(head + spec)).toContain(text);
  });

  it('outside its map is reported with the map that it may belong to', () => {
    const { problems } = readFile({ path: 'a.yaml', text: head.replace(': {name: g}', ':\nname: g') });
    expect(problems.map(({ message }) => message)).toContainEqual(
      'There is no member `name` here; if it belongs to `metadata`, indent it below that',
    );
  });

  it.each([
    ['spec:\n  name: a: b\n', 'yaml_invalid'],
    ['spec: {name: a, peers: [b}\n', 'yaml_invalid'],
    ['spec:\n  description: |\n      a\n    b\n  name: [\n', 'yaml_invalid'],
  ])('is not reported for another YAML error: %j', (spec, code) => {
    expect(problemsOf(head + spec).map(([found]) => found)).toContain(code);
  });

  it.each(['[', "['", ': #', '- '])('is searched for in linear time in a line that repeats %j', (piece) => {
    const search = (size: number) =>
      findMisindented(`a:\n${piece.repeat(size)}]\u2028.\n   b\n`, piece.length * size + 3);
    expect(growthOf(search, 300)).toBeLessThan(linear);
  });
});
