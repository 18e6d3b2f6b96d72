import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renamesOf } from '../../../src/documents/format/edits.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { read } from '../sample.ts';
import { format, formatted } from './sample.ts';

function document(kind: string, name: string, spec: string, metadata = ''): string {
  return `apiVersion: heddle.dev/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${metadata}spec:${spec}`;
}

/** Returns the text that `--fix` writes instead of a text. */
function fixed(text: string): string {
  return formatted(text, 'a.yaml', renamesOf(read(text).documents));
}

describe('heddle fmt --fix', () => {
  it('replaces obsolete member names by the current ones', () => {
    const text = document(
      'PostureCheck',
      'p',
      '\n  name: P\n  checks:\n    # Why.\n    nb_version_check: { min_version: "1.0" } # old\n',
    );
    expect(fixed(text)).toBe(text.replace('nb_version_check', 'client_version_check'));
    expect(formatted(text)).toBe(text);
  });

  it('replaces names that other systems use for values', () => {
    const rule = '- name: r\n      protocol: netbird-ssh # shell\n';
    const text = document('Policy', 'p', `\n  rules:\n    ${rule}`);
    expect(fixed(text)).toBe(text.replace('netbird-ssh', 'ssh'));
    expect(formatted(text)).toBe(text);
  });

  it('corrects misspelt kinds, members, values and envelope fields when only one correction is possible', () => {
    const text = document(
      'Polcy',
      'p',
      '\n  name: P\n  enabeld: true\n  rules:\n    - name: r\n      action: acept\n      protocol: tpc\n      sorces: [a]\n',
    ).replace('spec:', 'spc:');
    expect(fixed(text)).toBe(
      document(
        'Policy',
        'p',
        '\n  name: P\n  enabled: true\n  rules:\n    - name: r\n      action: accept\n      protocol: tcp\n      sources: [a]\n',
      ),
    );
  });

  it('leaves a word unchanged when nothing similar exists or the correct member is already present', () => {
    const text = document('Group', 'g', '\n  name: G\n  nme: x\n  colour: red\n');
    expect(fixed(text)).toBe(text);
  });

  it('updates references to renamed documents, including references to their children', () => {
    const text = [
      document('Group', 'new', ' {}\n', '  previousNames: [old]\n'),
      document(
        'Network',
        'site',
        '\n  resources:\n    - { name: Lab, address: 10.0.0.0/24, groups: [old] }\n',
        '  previousNames: [office]\n',
      ),
      document(
        'Policy',
        'p',
        '\n  rules:\n    - name: r\n      action: accept\n      protocol: all\n      sources: [old, other] # both\n      destinationResource: { id: office/Lab, type: subnet }\n',
      ),
    ].join('---\n');
    expect(fixed(text)).toBe(
      text
        .replace('[old, other]', '[new, other]')
        .replace('groups: [old]', 'groups: [new]')
        .replace('office/Lab', 'site/Lab'),
    );
  });

  it('keeps a reference when its name belongs to another document now, or belonged to two before', () => {
    const groups = [
      document('Group', 'a', ' {}\n', '  previousNames: [b, c]\n'),
      document('Group', 'b', ' {}\n', '  previousNames: [a, c]\n'),
    ];
    const policy = document(
      'Policy',
      'p',
      '\n  rules:\n    - name: r\n      action: accept\n      protocol: all\n      sources: [a, b, c]\n',
    );
    const text = [...groups, policy].join('---\n');
    expect(fixed(text)).toBe(text);
  });

  it('reports the problems of a file that it cannot fix, and leaves the file unchanged', () => {
    const text = document('Group', 'g', ' {}\n').replace('name: g', 'nme: g\n  wrong: 1');
    expect(format(text, 'a.yaml', new Map())).toMatchObject({
      type: 'problems',
      problems: [{ line: 3 }, { line: 4 }, { line: 5 }],
    });
  });

  it('renames members keyed by a group, unless the new key is taken', () => {
    const group = document('Group', 'new', ' {}\n', '  previousNames: [old, older]\n');
    const renames = renamesOf(read(group).documents);
    const policy = (authorized_groups: JsonObject) => ({
      ...{ apiVersion: 'heddle.dev/v1', kind: 'Policy', metadata: { name: 'p' } },
      spec: { rules: [{ name: 'r', protocol: 'all', authorized_groups }] },
    });
    for (const [before, after] of [
      [{ old: ['ana'] }, { new: ['ana'] }],
      [
        { old: ['ana'], other: ['bo'] },
        { new: ['ana'], other: ['bo'] },
      ],
      [{ old: ['ana'], new: ['bo'] }, undefined],
      [{ new: ['bo'], old: ['ana'] }, undefined],
      [
        { old: ['ana'], older: ['bo'] },
        { new: ['ana'], older: ['bo'] },
      ],
    ] as const) {
      const text = JSON.stringify(policy(before));
      const meant = policy(after ?? before);
      expect(JSON.parse(formatted(text, 'a.json', renames))).toEqual(meant);
      expect(parse(formatted(text.replaceAll('":', '": '), 'a.yaml', renames))).toEqual(meant);
    }
  });

  it('fixes JSON too', () => {
    const value = { apiVersion: 'heddle.dev/v1', kind: 'Policy', metadata: { name: 'p' }, spec: { enabeld: true } };
    const right = { ...value, spec: { enabled: true } };
    expect(formatted(JSON.stringify(value), 'a.json', new Map())).toBe(`${JSON.stringify(right, null, 2)}\n`);
  });
});
