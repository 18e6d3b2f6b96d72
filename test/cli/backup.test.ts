import { randomBytes } from 'node:crypto';
import { copyFile, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { environmentOfKeys } from '../../src/app/engine.ts';
import { writeChecked } from '../../src/cli/server/backup.ts';
import { emptyDatabase, temporaryDirectory } from '../setup/database.ts';
import { onServer } from '../setup/sql.ts';
import { backupDirectory } from './backups.ts';
import { runHere } from './collect.ts';
import { serve, sharedServer } from './served.ts';

const server = sharedServer();
const { at, isThere } = backupDirectory();

beforeAll(async () => {
  await server().api.group('by hand');
});

describe('heddle backup', () => {
  it('writes a file that only its owner can read, verifies it, and reports its content', async () => {
    const { code, out } = await server().heddle(['backup', at('one.gz')]);
    expect([code, out]).toEqual([
      0,
      `Wrote ${at('one.gz')}: the account ${server().api.account} at revision 2, 5 objects, with its history.\n`,
    ]);
    expect((await stat(at('one.gz'))).mode & 0o777).toBe(0o600);
    expect(await isThere('one.gz.unfinished')).toBe(false);
    const { document } = await server().json('backup', at('two.gz'), '--no-history');
    expect(document).toMatchObject({
      formatVersion: '1.0',
      file: at('two.gz'),
      revision: 2,
      objects: 5,
      history: false,
    });
  });

  it('measures a backup like the server, which restores one whose first line compresses well', async () => {
    await using own = await serve();
    const row = (text: string) => `jsonb_build_object('text', ${text})`;
    const noise = `(select string_agg(sha512(n::text::bytea)::text, '') from generate_series(1, 12000) n)`;
    await own.api.engine.database.asOwner([
      `update audit_events set meta = ${row("repeat('x', 1900000)")} where id = (select min(id) from audit_events)`,
      `update audit_events set meta = ${row(noise)} where id = (select max(id) from audit_events)`,
    ]);
    const { document } = await own.json('backup', at('uneven.gz'));
    expect(document).not.toHaveProperty('operatorOnly');
    const restored = await own.heddle(['restore', at('uneven.gz'), '--replace', own.api.account, '--auto-approve']);
    expect([restored.note, restored.code]).toEqual(['', 0]);
  });

  it('reports an interrupted transfer as such, and any other fault of the file unchanged', async () => {
    await server().heddle(['backup', at('sound.gz')]);
    const whole = await readFile(at('sound.gz'));
    const spoiled = gzipSync(gunzipSync(whole).toString().replace('"by hand"', '"by foot"'));
    const write = (bytes: Uint8Array) => writeChecked(at('spoiled.gz'), Readable.from([bytes]));
    await expect(write(whole.subarray(0, -40))).rejects.toThrow(/ended the transfer before the backup was complete/);
    await expect(write(spoiled)).rejects.toThrow(/the archive is damaged: the checksum of its section/);
    expect([await isThere('spoiled.gz'), await isThere('spoiled.gz.unfinished')]).toEqual([false, false]);
  });

  it('overwrites a file only with --force', async () => {
    await writeFile(at('kept'), 'mine');
    const { code, note } = await server().heddle(['backup', at('kept')]);
    expect([code, note]).toEqual([1, expect.stringContaining('--force')]);
    expect(await readFile(at('kept'), 'utf8')).toBe('mine');
    expect((await server().heddle(['backup', at('kept'), '--force'])).code).toBe(0);
  });

  it.each([
    ['whose directory does not exist', 'nowhere/x.gz', 'its directory does not exist (ENOENT); create the directory'],
    ['below a file', 'kept/x.gz', 'a part of the path is not a directory (ENOTDIR); correct the path'],
    ['on a full disk', 'full', 'the disk is full (ENOSPC); free space on its disk'],
  ])('reports a file %s with the reason, and leaves nothing behind', async (_, name, reason) => {
    await writeFile(at('kept'), 'mine');
    await symlink('/dev/full', at('full.unfinished')).catch(() => {});
    const { code, note } = await server().heddle(['backup', at(name)]);
    expect([code, note]).toEqual([
      1,
      expect.stringContaining(`error: No backup was made. ${at(name)} cannot be written: ${reason}`),
    ]);
    expect([await isThere(name), await isThere(`${name}.unfinished`)]).toEqual([false, false]);
  });
});

describe('heddle restore', () => {
  it('asks for confirmation, and states what the backup contains and what it would replace', async () => {
    await using own = await serve();
    await own.heddle(['backup', at('asked.gz')]);
    const revision = await own.api.revision();
    const { code, note } = await own.heddle(['restore', at('asked.gz')], { interactive: true });
    expect([code, note]).toEqual([1, expect.stringContaining('The backup holds the account')]);
    expect(await own.api.revision()).toBe(revision);
    expect((await own.heddle(['restore', at('asked.gz')])).note).toContain('--auto-approve');
  });

  it('refuses the backup of another account and refers to `heddle operator restore`', async () => {
    const keys = environmentOfKeys([randomBytes(32)]);
    await using own = await serve(keys);
    await own.heddle(['backup', at('whole.gz')]);
    await using fresh = await serve(keys);
    const { code, note } = await fresh.heddle(['restore', at('whole.gz'), '--auto-approve']);
    expect([code, note]).toEqual([4, expect.stringContaining('heddle operator restore')]);
  });

  it('refuses a damaged file before sending anything, and a server that is in use', async () => {
    await server().heddle(['backup', at('good.gz')]);
    await writeFile(at('cut.gz'), (await readFile(at('good.gz'))).subarray(0, -30));
    const cut = await server().heddle(['restore', at('cut.gz'), '--auto-approve']);
    expect([cut.code, cut.note]).toEqual([1, expect.stringContaining('cut short')]);
    const used = await server().heddle(['restore', at('good.gz'), '--auto-approve']);
    expect([used.code, used.note]).toEqual([4, expect.stringContaining(`--replace ${server().api.account}`)]);
    const missing = await server().heddle(['restore', at('missing.gz'), '--auto-approve']);
    expect([missing.code, missing.note]).toEqual([1, expect.stringContaining('does not exist')]);
  });

  it('restores the objects of an existing account with --replace', async () => {
    await using own = await serve();
    await own.heddle(['backup', at('own.gz')]);
    await own.api.group('later');
    const replace = ['restore', at('own.gz'), '--replace', own.api.account, '--auto-approve'];
    const { document } = await own.json(...replace);
    expect(document).toMatchObject({ formatVersion: '1.0', account: own.api.account, restored: 1, revision: 3 });
    expect((await own.api.call('GET', '/api/groups?name=later')).body).toEqual([]);
  });

  it('sends nothing when the file is replaced after it was described', async () => {
    await using own = await serve();
    await own.heddle(['backup', at('described.gz')]);
    await own.api.group('later');
    await own.heddle(['backup', at('newer.gz')]);
    const revision = await own.api.revision();
    const confirm = async () => {
      await copyFile(at('newer.gz'), at('described.gz'));
      return true;
    };
    const argv = ['restore', at('described.gz'), '--replace', own.api.account];
    const { code, note } = await own.heddle(argv, { interactive: true, confirm });
    expect([code, note]).toEqual([1, expect.stringContaining('was changed while it was read; nothing was written')]);
    expect(await own.api.revision()).toBe(revision);
  });
});

describe('heddle operator', () => {
  it.each([
    [
      'a directory that does not exist',
      'nothing',
      /^error: there is no directory \/.*\/nothing; name the data directory/,
    ],
    ['a directory without a database', '.', /^error: \/.* contains no database; name the data directory of the server/],
  ])('does not create a database to back up in %s', async (_, name, message) => {
    const dataDir = name === '.' ? await temporaryDirectory() : at(name);
    const { code, note } = await runHere(['operator', 'backup', at('none.gz'), '--data-dir', dataDir]);
    expect([code, note]).toEqual([1, expect.stringMatching(message)]);
    expect([await isThere('nothing'), await isThere('none.gz')]).toEqual([false, false]);
  });

  it('does not migrate an empty Postgres to back it up', async () => {
    const url = await emptyDatabase();
    const { code, note } = await runHere(['operator', 'backup', at('none.gz')], {
      HEDDLE_DATABASE_URL: url,
      HEDDLE_SECRET_KEY: randomBytes(32).toString('base64'),
    });
    expect([code, note]).toEqual([
      1,
      expect.stringContaining('The database of HEDDLE_DATABASE_URL has no tables of Heddle'),
    ]);
    expect(await onServer(url, "select to_regclass('heddle_schema') as ledger")).toEqual([{ ledger: null }]);
  });
});
