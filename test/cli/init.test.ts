import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callFault, heddleCalls } from '../setup/command-lines.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { runHere } from './collect.ts';
import { sharedServer } from './served.ts';

describe('heddle init', () => {
  it('creates a directory with valid documents, no foreign files, and a named source', async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    const { code, out } = await runHere(['init', directory]);
    expect([code, out]).toEqual([0, expect.stringContaining('belong to the source mesh')]);
    expect(await readFile(join(directory, 'heddle.yaml'), 'utf8')).toContain('source: "mesh"');
    expect(await runHere(['validate', '--strict-files', directory])).toEqual({
      code: 0,
      out: '3 documents in 2 files are valid.\n',
      note: '',
    });
  });

  it("writes canonical documents, and a .gitignore that excludes the server's database", async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    await runHere(['init', directory]);
    expect(await runHere(['fmt', '--check', directory])).toMatchObject({ code: 0, out: '' });
    const ignored = await readFile(join(directory, '.gitignore'), 'utf8');
    expect(ignored.split('\n')).toEqual(expect.arrayContaining(['.heddle/*', '!/.heddle/schema.json']));
    const readme = await readFile(join(directory, 'README.md'), 'utf8');
    const calls = heddleCalls(readme.replace(/^ {4}(heddle \S+ \S+).*$/gm, '$1'));
    expect([calls.length, calls.map(callFault).filter((fault) => fault !== undefined)]).toEqual([4, []]);
  });

  it('configures editors, at the top of the repository, to validate every document of a subdirectory', async () => {
    const top = await temporaryDirectory();
    await mkdir(join(top, '.git'));
    await runHere(['init', join(top, 'mesh')]);
    expect(JSON.parse(await readFile(join(top, '.vscode/settings.json'), 'utf8'))).toEqual({
      'yaml.schemas': { 'mesh/.heddle/schema.json': ['mesh/**/*.yaml', 'mesh/**/*.yml', '!mesh/heddle.yaml'] },
    });
    expect(await readdir(join(top, 'mesh'))).not.toContain('.vscode');
  });

  it('keeps existing editor settings of a repository and prints those to add', async () => {
    const top = await temporaryDirectory();
    await mkdir(join(top, '.git'));
    await mkdir(join(top, '.vscode'));
    const path = join(top, '.vscode/settings.json');
    await writeFile(path, '{}\n');
    const { out } = await runHere(['init', join(top, 'mesh')]);
    expect(out).toContain(`kept ${path}\n`);
    expect(out).toContain(`Editors check the documents once ${path} also contains:\n{\n  "yaml.schemas": {`);
    expect(await readFile(path, 'utf8')).toBe('{}\n');
    await writeFile(path, '{ "yaml.schemas": { "mesh/.heddle/schema.json": "mesh/*" } }\n');
    expect((await runHere(['init', join(top, 'mesh')])).out).not.toContain('Editors check');
  });

  it('configures editors to validate every document by the schema, except the settings file', async () => {
    const directory = await temporaryDirectory();
    await runHere(['init', directory, '--source-name', 'office']);
    const settings = JSON.parse(await readFile(join(directory, '.vscode/settings.json'), 'utf8'));
    const [[path, globs]] = Object.entries<string[]>(settings['yaml.schemas']) as [[string, string[]]];
    expect(globs).toEqual(['*.yaml', '*.yml', '!heddle.yaml']);
    const { out } = await runHere(['schema']);
    expect(await readFile(join(directory, path), 'utf8')).toBe(out);
  });

  it('keeps existing files', async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    await mkdir(directory);
    await writeFile(join(directory, 'heddle.yaml'), 'source: other\n');
    const { out } = await runHere(['init', directory]);
    expect(out).toContain(`kept ${join(directory, 'heddle.yaml')}\n`);
    expect(out).not.toContain('belong to the source');
    expect(await readFile(join(directory, 'heddle.yaml'), 'utf8')).toBe('source: other\n');
    expect((await runHere(['init', directory])).out).not.toContain('wrote');
  });

  it('refuses a directory name that cannot name a source before it writes anything', async () => {
    const directory = join(await temporaryDirectory(), 'my mesh');
    const { code, note } = await runHere(['init', directory]);
    expect([code, note]).toEqual([
      1,
      expect.stringContaining(
        'the name of the directory is `my mesh`, which is not a valid name of a source; use letters',
      ),
    ]);
    const named = await runHere(['init', directory, '--source-name', 'mesh']);
    expect([named.code, named.out]).toEqual([0, expect.stringContaining(`heddle plan '${directory}'`)]);
  });
});

const server = sharedServer();

describe('heddle init --from-server', () => {
  it('writes the documents of the account, which plan no changes', async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    const { env } = server();
    expect((await runHere(['init', directory, '--from-server'], env)).out).toContain(
      `wrote ${join(directory, 'account.yaml')}`,
    );
    expect(await readdir(directory)).not.toContain('groups.yaml');
    const { code, out } = await runHere(['plan', directory, '--detailed-exitcode'], env);
    expect([code, out]).toEqual([0, expect.stringContaining('No changes')]);
  });

  it('writes nothing when the token is refused', async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    const { code, note } = await runHere(['init', directory, '--from-server'], {
      ...server().env,
      HEDDLE_TOKEN: 'wrong',
    });
    expect([code, note]).toEqual([1, expect.stringContaining('token')]);
    await expect(readdir(directory)).rejects.toThrow('ENOENT');
  });
});
