import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere, runIn } from './collect.ts';

const group = (name: string, spec: string) =>
  `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${name}\nspec:\n  ${spec}\n`;

let root: string;
let wrong: string;
let sound: string;
let outside: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-formats-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(root, name), text);
    return join(root, name);
  };
  wrong = file('wrong.yaml', `${group('a', 'nam: A')}---\n${group('b', 'name: 7')}`);
  sound = file('sound.yaml', group('a', 'name: A'));
  const rule = '{ name: r, action: accept, protocol: all, sources: [elsewhere], destinations: [elsewhere] }';
  outside = file('outside.yaml', group('x', `rules: [${rule}]`).replace('Group', 'Policy'));
});

afterAll(() => rmSync(root, { recursive: true }));

async function validate(path: string, format: string) {
  const { code, out, note } = await runHere(['validate', path, '--format', format]);
  return { code, out: out.replaceAll(root, 'ROOT'), note };
}

describe('the formats of validate', () => {
  it('print github annotations at the lines of problems', async () => {
    expect(await validate(wrong, 'github')).toEqual({
      ...{ code: 5, note: '' },
      out:
        '::error file=ROOT/wrong.yaml,line=6,col=8,title=Group a::unknown field `nam`; did you mean `name`?\n' +
        '::error file=ROOT/wrong.yaml,line=13,col=9,title=Group b::`name` must be a string, not a number; quote it: "7"\n',
    });
  });

  it('print a gitlab code quality report, empty when there are no problems', async () => {
    const { code, out } = await validate(wrong, 'gitlab');
    expect([code, JSON.parse(out)]).toMatchObject([
      5,
      [
        { check_name: 'field_unknown', severity: 'major', location: { path: 'ROOT/wrong.yaml', lines: { begin: 6 } } },
        { check_name: 'type_wrong', location: { lines: { begin: 13 } } },
      ],
    ]);
    expect(await validate(sound, 'gitlab')).toEqual({ code: 0, out: '[]\n', note: '' });
  });

  it('print a markdown comment', async () => {
    const { code, out } = await validate(wrong, 'markdown');
    expect([code, out]).toEqual([
      5,
      expect.stringMatching(/^### 2 problems: nothing would be applied\n\n- `ROOT\/wrong/),
    ]);
    expect((await validate(sound, 'markdown')).out).toBe('### 1 document in 1 file is valid.\n');
  });

  it('include warnings', async () => {
    const { code, out } = await validate(outside, 'github');
    expect([code, out]).toEqual([0, expect.stringMatching(/^::warning file=ROOT\/outside\.yaml,line=\d+,/)]);
    expect((await validate(outside, 'markdown')).out).toContain('**Warnings**\n\n- `ROOT/outside.yaml:');
  });

  it('name files relative to the working directory of the pipeline', async () => {
    for (const given of ['wrong.yaml', './wrong.yaml', wrong]) {
      const { out } = await runIn(root, ['validate', given, '--format', 'github']);
      expect(out).toContain('::error file=wrong.yaml,line=6,');
    }
  });

  it('report command-line errors in the same format', async () => {
    const { code, out } = await validate('/does/not/exist', 'github');
    expect([code, out]).toEqual([1, expect.stringMatching(/^::error title=heddle::/)]);
  });
});
