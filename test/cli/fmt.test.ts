import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/cli/write-file.ts';
import { formatFile } from '../../src/documents/format/format.ts';
import * as kinds from '../../src/kinds/index.ts';
import { createRegistry } from '../../src/model/declare/registry.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHere } from './collect.ts';
import { sharedServer } from './served.ts';

const canonical = 'apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: a\n';
const other = "kind: Group\napiVersion: heddle.dev/v1\nmetadata:\n    name: 'a'\n";
const quoted = canonical.replace('name: a', 'name: "a"');

/** Creates a directory with these files. */
async function directoryOf(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

const textAt = (directory: string, name: string) => readFile(join(directory, name), 'utf8');

describe('heddle fmt', () => {
  it('rewrites files that are not canonical, and no others', async () => {
    const directory = await directoryOf({
      'a.yaml': other,
      'b.yml': canonical,
      'c.yaml': other,
      'ci.yaml': 'on:   push\n',
      '.heddleignore': 'c.yaml\n',
    });
    const first = await runHere(['fmt', directory]);
    expect(first).toMatchObject({ code: 0, out: `wrote ${join(directory, 'a.yaml')}\n` });
    expect(first.note).toContain('1 file written, of 2.\n');
    const texts = ['a.yaml', 'b.yml', 'c.yaml', 'ci.yaml'].map((name) => textAt(directory, name));
    expect(await Promise.all(texts)).toEqual([quoted, canonical, other, 'on:   push\n']);
    expect(await runHere(['fmt', directory])).toMatchObject({ code: 0, out: '' });
  });

  it('lists with --check and shows with --diff what would change, without writing', async () => {
    const directory = await directoryOf({ 'a.yaml': other, 'b.yaml': canonical.replace('a\n', 'b\n') });
    const path = join(directory, 'a.yaml');
    expect(await runHere(['fmt', '--check', directory])).toEqual({
      code: 2,
      out: `${path}\n`,
      note: '1 file is not canonical, of 2; `heddle fmt` writes the canonical form.\n',
    });
    const shown = await runHere(['fmt', '--diff', directory]);
    expect([shown.code, shown.out]).toEqual([
      0,
      `--- ${path}\n+++ ${path}\n@@ -1,4 +1,4 @@\n-kind: Group\n apiVersion: heddle.dev/v1\n+kind: Group\n metadata:\n-    name: 'a'\n+  name: "a"\n`,
    ]);
    expect((await runHere(['fmt', '--check', '--diff', directory])).code).toBe(2);
    expect(await textAt(directory, 'a.yaml')).toBe(other);
    expect(await runHere(['fmt', '--check', join(directory, 'b.yaml')])).toMatchObject({ code: 0, out: '' });
  });

  it('formats standard input to standard output, and leaves foreign texts unchanged', async () => {
    const pipe = (text: string, ...flags: readonly string[]) =>
      runHere(['fmt', '-', ...flags], {}, { readInput: async () => text });
    expect(await pipe(other)).toEqual({ code: 0, out: quoted, note: '' });
    expect(await pipe('on:   push\n')).toEqual({ code: 0, out: 'on:   push\n', note: '' });
    expect(await pipe(other, '--check')).toEqual({ code: 2, out: '-\n', note: '' });
    expect(await pipe('a: [')).toMatchObject({ code: 5, out: '' });
  });

  it('does what its help states about brackets, quotes and documents with wrong fields', async () => {
    const spec = (peers: string) => `${canonical}spec:\n  nam: 'it''s'\n  name: 'a"b'\n${peers}`;
    const wide = 'a'.repeat(60);
    const directory = await directoryOf({
      'short.yaml': spec('  peers: [ a,b ]\n'),
      'wide.yaml': spec(`  peers: [${wide}, ${wide}]\n`),
      'split.yaml': spec('  peers: [a,\n    b]\n'),
      'block.yaml': spec('  peers:\n  - a\n'),
    });
    expect((await runHere(['fmt', directory])).code).toBe(0);
    const peers = async (name: string) => / {2}peers:[\s\S]*(?= {2}nam:)/.exec(await textAt(directory, name))?.[0];
    expect(await peers('short.yaml')).toBe('  peers: [a, b]\n');
    expect(await peers('wide.yaml')).toBe(`  peers:\n    - ${wide}\n    - ${wide}\n`);
    expect(await peers('split.yaml')).toBe('  peers:\n    - a\n    - b\n');
    expect(await peers('block.yaml')).toBe('  peers:\n    - a\n');
    expect(await textAt(directory, 'short.yaml')).toMatch(/ {2}name: 'a"b'\n[\s\S]* {2}nam: "it's"\n/);
  });

  it('leaves files with problems unchanged, exits as validate does, and writes the others', async () => {
    const wrong = `${canonical}spec: &x {}\n`;
    const directory = await directoryOf({ 'a.yaml': wrong, 'b.yaml': other });
    const { code, note } = await runHere(['fmt', directory]);
    expect([code, note]).toEqual([
      5,
      expect.stringContaining(`${join(directory, 'a.yaml')}:5:10: \`&x\` without quotes`),
    ]);
    expect((await runHere(['validate', join(directory, 'a.yaml')])).code).toBe(5);
    expect([await textAt(directory, 'a.yaml'), await textAt(directory, 'b.yaml')]).toEqual([wrong, quoted]);
    expect((await runHere(['fmt', join(directory, 'none.yaml')])).code).toBe(1);
  });

  it('reports why it leaves a file unchanged', async () => {
    const directory = await directoryOf({ 'a.json': canonical });
    const { code, note } = await runHere(['fmt', directory]);
    expect([code, note]).toEqual([
      0,
      expect.stringContaining('a.json is not changed: its name ends with .json but it contains YAML'),
    ]);
    expect(await textAt(directory, 'a.json')).toBe(canonical);
  });

  it('keeps the mode of a file, follows links, and leaves no temporary file', async () => {
    const directory = await directoryOf({ 'a.yaml': other });
    await chmod(join(directory, 'a.yaml'), 0o640);
    await mkdir(join(directory, 'links'));
    const link = join(directory, 'links', 'b.yaml');
    await symlink('../a.yaml', link);
    expect((await runHere(['fmt', link])).out).toBe(`wrote ${link}\n`);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect([(await stat(link)).mode & 0o777, await textAt(directory, 'a.yaml')]).toEqual([0o640, quoted]);
    expect(await readdir(directory)).toEqual(['a.yaml', 'links']);
  });

  it('updates with --fix references in other files to renamed documents', async () => {
    const policy =
      'apiVersion: heddle.dev/v1\nkind: Policy\nmetadata:\n  name: p\nspec:\n  source_posture_checks: [old]\n';
    const check = `${canonical.replace('Group', 'PostureCheck').replace('name: a', 'name: new')}  previousNames: [old]\n`;
    const directory = await directoryOf({ 'a.yaml': policy, 'b.yaml': check });
    expect(await runHere(['fmt', '--fix', directory])).toMatchObject({
      code: 0,
      out: `wrote ${join(directory, 'a.yaml')}\n`,
    });
    expect(await textAt(directory, 'a.yaml')).toBe(policy.replace('old', 'new'));
  });
});

const server = sharedServer();

describe('heddle fmt --drop-previous-names', () => {
  const group = (name: string, metadata: string) =>
    `apiVersion: heddle.dev/v1\nkind: Group\nmetadata:\n  name: ${name}\n${metadata}spec:\n  name: ${name}\n`;

  it('removes only the previous names of applied renames, and the result plans no changes', async () => {
    const { env, heddle } = server();
    const directory = await directoryOf({ 'a.yaml': [group('old', ''), group('listed', '')].join('---\n') });
    const apply = () => heddle(['apply', directory, '--source-name', 'renaming', '--auto-approve']);
    expect((await apply()).code).toBe(0);
    const annotated = '  annotations:\n    heddle.dev/previous-names: "listed, never"\n';
    const done = '  # Kept.\n  previousNames: [old] # gone by May\n  labels: {a: b} # stays\n';
    const renamed = [group('new', done), group('noted', annotated)].join('---\n');
    await writeFile(join(directory, 'a.yaml'), renamed);
    const drop = ['fmt', '--drop-previous-names', directory];
    // The rename is not applied yet, so the plan still needs the previous names.
    expect((await runHere(drop, env)).note).toContain('1 file written');
    expect(await textAt(directory, 'a.yaml')).toContain('previousNames: [old] # gone by May');
    expect((await apply()).code).toBe(0);
    // After the apply, an object has every name that its document lists as an alias, whether or not an object had that
    // name.
    await writeFile(join(directory, 'b.yaml'), group('other', '  previousNames: [older]\n'));
    expect(await runHere(drop, env)).toMatchObject({ code: 0, out: `wrote ${join(directory, 'a.yaml')}\n` });
    expect(await textAt(directory, 'a.yaml')).toBe(
      [group('new', '  # Kept.\n  labels: { a: b } # stays\n'), group('noted', '')].join('---\n'),
    );
    expect(await textAt(directory, 'b.yaml')).toContain('previousNames: [older]');
    await rm(join(directory, 'b.yaml'));
    const { code, out } = await heddle(['plan', directory, '--source-name', 'renaming', '--detailed-exitcode']);
    expect([code, out]).toEqual([0, expect.stringContaining('No changes')]);
    // Other sources can still refer to the object by its previous name.
    const key = 'apiVersion: heddle.dev/v1\nkind: SetupKey\nmetadata:\n  name: k\nspec:\n  name: k\n  type: reusable\n';
    await writeFile(join(directory, 'key.yaml'), `${key}  expires_in: 86400\n  auto_groups: [old]\n`);
    const planned = await heddle(['plan', join(directory, 'key.yaml'), '--source-name', 'others', '--json']);
    expect([planned.code, planned.out]).toEqual([0, expect.stringContaining('reference_renamed')]);
  });

  it('removes single entries from lists and annotations, also in List documents and JSON', () => {
    const isApplied = (kind: string, key: string, former: string) => `${kind}/${key}/${former}` === 'Group/new/old';
    const options = { registry: createRegistry(Object.values(kinds)), isApplied };
    const write = (path: string, text: string) => {
      const result = formatFile({ path, text }, options);
      return result.type === 'formatted' ? result.text : expect.fail(result.type);
    };
    const list = group('new', '  previousNames:\n    - old # the first\n    - older # the second\n');
    expect(write('a.yaml', list)).toBe(list.replace('    - old # the first\n', ''));
    const both = '  annotations:\n    a: b\n    heddle.dev/previous-names: "old, older"\n';
    expect(write('a.yaml', group('new', both))).toBe(group('new', both.replace('"old, older"', 'older')));
    const document = { apiVersion: 'heddle.dev/v1', kind: 'Group', metadata: { name: 'new', previousNames: ['old'] } };
    const json = JSON.stringify({ apiVersion: 'heddle.dev/v1', kind: 'List', items: [document] });
    expect(JSON.parse(write('a.json', json)).items[0].metadata).toEqual({ name: 'new' });
    const flow = '{ apiVersion: heddle.dev/v1, kind: Group, metadata: { name: new, previousNames: [old] } } # c\n';
    expect(write('a.yaml', flow)).not.toContain('previousNames');
  });

  it('reports a refused token before it writes anything', async () => {
    const directory = await directoryOf({ 'a.yaml': other });
    const env = { ...server().env, HEDDLE_TOKEN: 'wrong' };
    const { code, note } = await runHere(['fmt', '--drop-previous-names', directory], env);
    expect([code, note]).toEqual([1, expect.stringContaining('token')]);
    expect(await textAt(directory, 'a.yaml')).toBe(other);
  });
});

describe('replacing a file', () => {
  it('is refused when the file changed meanwhile or cannot be written', async () => {
    const directory = await directoryOf({ 'a.yaml': 'new' });
    const path = join(directory, 'a.yaml');
    await expect(replaceFile(path, 'old', 'mine')).rejects.toThrow(
      `${path} changed while the command ran and was not overwritten`,
    );
    expect([await readdir(directory), await readFile(path, 'utf8')]).toEqual([['a.yaml'], 'new']);
    await expect(replaceFile('/proc/version', 'a', 'b')).rejects.toThrow(
      /^\/proc\/version cannot be written: .+ \(\w+\); .+\.$/,
    );
  });
});

it('the examples are canonical', async () => {
  const examples = fileURLToPath(new URL('../../examples', import.meta.url));
  expect(await runHere(['fmt', '--check', examples])).toMatchObject({ code: 0, out: '' });
});
