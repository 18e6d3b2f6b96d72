import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';
import { runHere } from './collect.ts';

describe('heddle init', () => {
  it('lays out a directory whose documents are valid, whose other files are no problem, and whose source is named', async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    const { code, out } = await runHere(['init', directory]);
    expect([code, out]).toEqual([0, expect.stringContaining('belong to the source mesh')]);
    expect(await readFile(join(directory, 'heddle.yaml'), 'utf8')).toContain('source: "mesh"');
    expect(await runHere(['validate', '--strict-files', directory])).toEqual({
      code: 0,
      out: '1 document in 1 file is valid.\n',
      note: '',
    });
  });

  it('has editors check every document by the schema, the settings file aside', async () => {
    const directory = await temporaryDirectory();
    await runHere(['init', directory, '--source-name', 'office']);
    const settings = JSON.parse(await readFile(join(directory, '.vscode/settings.json'), 'utf8'));
    const [[path, globs]] = Object.entries<string[]>(settings['yaml.schemas']) as [[string, string[]]];
    expect(globs).toEqual(['*.yaml', '*.yml', '!heddle.yaml']);
    const { out } = await runHere(['schema']);
    expect(await readFile(join(directory, path), 'utf8')).toBe(out);
  });

  it('keeps what is there', async () => {
    const directory = join(await temporaryDirectory(), 'mesh');
    await mkdir(directory);
    await writeFile(join(directory, 'heddle.yaml'), 'source: other\n');
    const { out } = await runHere(['init', directory]);
    expect(out).toContain(`kept ${join(directory, 'heddle.yaml')}\n`);
    expect(out).not.toContain('belong to the source');
    expect(await readFile(join(directory, 'heddle.yaml'), 'utf8')).toBe('source: other\n');
    expect((await runHere(['init', directory])).out).not.toContain('wrote');
  });

  it('refuses a name that no source can have before it writes anything', async () => {
    const directory = join(await temporaryDirectory(), 'my mesh');
    const { code, note } = await runHere(['init', directory]);
    expect([code, note]).toEqual([
      1,
      expect.stringContaining('the name of the directory is `my mesh`, which cannot name a source; use letters'),
    ]);
    const named = await runHere(['init', directory, '--source-name', 'mesh']);
    expect([named.code, named.out]).toEqual([0, expect.stringContaining(`heddle plan '${directory}'`)]);
  });
});
