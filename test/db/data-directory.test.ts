import { chmod, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { copyEmbedded } from '../setup/database.ts';
import { contents, modeOf, newDataDirectory, openAndClose, refusal } from './data-directory.ts';

const data = newDataDirectory();

describe('a data directory', () => {
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
