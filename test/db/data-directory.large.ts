import { chmod, cp, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { statement } from '../../src/db/builder.ts';
import { openDatabase } from '../../src/db/database.ts';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { copyEmbedded } from '../setup/database.ts';
import { contents, modeOf, newDataDirectory, openAndClose, refusal } from './data-directory.ts';

const data = newDataDirectory();

describe('a data directory', () => {
  it('is created with access for its owner only, and gets a marker file', async () => {
    const dataDir = data();
    await openAndClose(dataDir);
    expect(await modeOf(dataDir)).toBe('700');
    expect(await modeOf(join(dataDir, 'postgres'))).toBe('700');
    expect(JSON.parse(await readFile(join(dataDir, 'data-directory.json'), 'utf8'))).toMatchObject({ version: 1 });
    expect(await modeOf(join(dataDir, 'data-directory.json'))).toBe('600');
  });

  it('with a token but no former database gets a new database', async () => {
    const dataDir = data();
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'token'), 'x');
    await openAndClose(dataDir);
    expect(await readdir(dataDir)).toContain('postgres');
  });

  it('without its database folder is refused, and no new database is created', async () => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    await openAndClose(dataDir);
    await rm(join(dataDir, 'postgres'), { recursive: true });
    const message = await refusal(dataDir);
    expect(message).toMatch(/is damaged: the folder `postgres` is missing\. Nothing was changed\. .*`secret\.key`/);
    expect(message).toContain(`while the server is stopped`);
    expect(message).toContain(`\`heddle operator restore FILE --data-dir ${dataDir}\``);
    expect((await contents(dataDir)).filter((path) => path.includes('postgres'))).toEqual([]);
  });

  it.each([
    ['global/pg_control', 100],
    ['global/pg_filenode.map', 10],
  ])('with a truncated `%s` is refused as damaged', async (name, length) => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    await truncate(join(dataDir, 'postgres', name), length);
    expect(await refusal(dataDir)).toContain('is damaged: the database does not start from its files.');
  });

  it.each([
    [
      'global/pg_control',
      20,
      /does not start, and its disk is full \(20 MiB left\)\. Nothing was changed\. Free disk space/,
    ],
    ['global/pg_control', 4000, /is damaged/],
  ])(
    'with a truncated `%s` and %i MiB free is refused as damaged, or as on a full disk when space is low',
    async (name, room, words) => {
      const dataDir = data();
      await copyEmbedded(dataDir);
      await truncate(join(dataDir, 'postgres', name), 100);
      await expect(openEmbedded({ dataDir, freeMebibytes: async () => room })).rejects.toThrow(words);
    },
  );

  it('opens from a copy of the whole directory after damage', async () => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    await openAndClose(dataDir);
    await cp(dataDir, `${dataDir}.copy`, { recursive: true });
    await rm(join(dataDir, 'postgres/PG_VERSION'));
    await refusal(dataDir);
    await rm(dataDir, { recursive: true });
    await cp(`${dataDir}.copy`, dataDir, { recursive: true });
    const database = await openDatabase({ dataDir });
    expect(await database.lookUp(statement<{ readonly one: number }>('select 1 as one', []))).toEqual([{ one: 1 }]);
    await database.close();
  });

  it('of the previous version gets a marker file and is closed to other users when it is opened', async () => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    await chmod(dataDir, 0o755);
    const opened = ['postgres', 'postgres/global', 'postgres/pg_hba.conf', 'postgres/postgresql.conf'];
    for (const name of opened) await chmod(join(dataDir, name), name.includes('.') ? 0o666 : 0o755);
    await openAndClose(dataDir);
    expect(await readdir(dataDir)).toContain('data-directory.json');
    expect(await modeOf(dataDir)).toBe('700');
    expect(await Promise.all(opened.map((name) => modeOf(join(dataDir, name))))).toEqual(['700', '700', '600', '600']);
  });

  it('with a missing file is refused naming it, also in the previous version, and stays unchanged', async () => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    const parts = [
      'PG_VERSION',
      'postgresql.conf',
      'global/pg_control',
      'global/pg_filenode.map',
      'base',
      'pg_wal',
      'pg_xact',
    ];
    for (const name of parts) {
      const [there, away] = [join(dataDir, 'postgres', name), `${dataDir}.lost`];
      await rename(there, away);
      const before = await contents(dataDir);
      expect(await refusal(dataDir)).toContain(`is damaged: \`postgres/${name}\` is missing. Nothing was changed.`);
      expect(await contents(dataDir)).toEqual(before);
      await rename(away, there);
    }
    await openAndClose(dataDir);
  });

  it('of a newer version is refused', async () => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    await writeFile(join(dataDir, 'data-directory.json'), '{"version": 2}');
    expect(await refusal(dataDir)).toContain('was written by a newer Heddle');
  });

  it('with an unreadable marker is refused', async () => {
    const dataDir = data();
    await copyEmbedded(dataDir);
    await writeFile(join(dataDir, 'data-directory.json'), '');
    expect(await refusal(dataDir)).toContain('`data-directory.json` cannot be read');
  });

  it('without enough free disk space gets no new database', async () => {
    const dataDir = data();
    const opening = openEmbedded({ dataDir, freeMebibytes: async () => 20 });
    await expect(opening).rejects.toThrow(/its disk has room for 20 MiB, and a new database takes 48 MiB\. Make room/);
    expect(await readdir(dataDir)).toEqual([]);
  });
});
