import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../setup/database.ts';
import { serve, sharedServer } from './served.ts';

const server = sharedServer();
let directory = '';

beforeAll(async () => {
  directory = await temporaryDirectory();
  await server().api.group('by hand');
});

const at = (name: string) => join(directory, name);

/** Whether there is a file. */
const isThere = async (name: string) =>
  stat(at(name)).then(
    () => true,
    () => false,
  );

describe('heddle backup', () => {
  it('writes a file that only its owner reads, checks it, and says what is in it', async () => {
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

  it('overwrites nothing unless it is told to', async () => {
    await writeFile(at('kept'), 'mine');
    const { code, note } = await server().heddle(['backup', at('kept')]);
    expect([code, note]).toEqual([1, expect.stringContaining('--force')]);
    expect(await readFile(at('kept'), 'utf8')).toBe('mine');
    expect((await server().heddle(['backup', at('kept'), '--force'])).code).toBe(0);
  });

  it('leaves nothing behind when it cannot be written', async () => {
    const { code, note } = await server().heddle(['backup', at('nowhere/x.gz')]);
    expect([code, note]).toEqual([1, expect.stringContaining('ENOENT')]);
  });
});

describe('heddle restore', () => {
  it('brings the account to a server that was not used yet', async () => {
    await server().heddle(['backup', at('whole.gz')]);
    await using fresh = await serve();
    const { code, out } = await fresh.heddle(['restore', at('whole.gz'), '--auto-approve']);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(`Restored the account ${server().api.account} as of revision 2`),
    ]);
    const exported = await server().heddle(['export']);
    expect((await fresh.heddle(['export'])).out).toBe(exported.out);
    expect((await fresh.heddle(['history', '--limit', '1'])).out).toContain('restored from a backup of revision 2');
  });

  it('asks first, and says what it would put in place of what', async () => {
    await server().heddle(['backup', at('asked.gz')]);
    await using fresh = await serve();
    const { code, note } = await fresh.heddle(['restore', at('asked.gz')], { interactive: true });
    expect([code, note]).toEqual([1, expect.stringContaining('The backup holds the account')]);
    expect(await fresh.api.revision()).toBe(1);
    expect((await fresh.heddle(['restore', at('asked.gz')])).note).toContain('--auto-approve');
  });

  it('refuses a file that is damaged before anything is sent, and a server that is in use', async () => {
    await server().heddle(['backup', at('good.gz')]);
    await writeFile(at('cut.gz'), (await readFile(at('good.gz'))).subarray(0, -30));
    const cut = await server().heddle(['restore', at('cut.gz'), '--auto-approve']);
    expect([cut.code, cut.note]).toEqual([1, expect.stringContaining('cut short')]);
    const used = await server().heddle(['restore', at('good.gz'), '--auto-approve']);
    expect([used.code, used.note]).toEqual([4, expect.stringContaining(`--replace ${server().api.account}`)]);
    const missing = await server().heddle(['restore', at('missing.gz'), '--auto-approve']);
    expect([missing.code, missing.note]).toEqual([1, expect.stringContaining('is not there')]);
  });

  it('puts an account back in its own place when that is said', async () => {
    await using own = await serve();
    await own.heddle(['backup', at('own.gz')]);
    await own.api.group('later');
    const replace = ['restore', at('own.gz'), '--replace', own.api.account, '--auto-approve'];
    const { document } = await own.json(...replace);
    expect(document).toMatchObject({ formatVersion: '1.0', account: own.api.account, restored: 1, revision: 3 });
    expect((await own.api.call('GET', '/api/groups?name=later')).body).toEqual([]);
  });
});
