import { randomBytes } from 'node:crypto';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { environmentOfKeys } from '../../src/app/engine.ts';
import { withDatabase } from '../../src/app/offline.ts';
import { createEngine } from '../../src/app.ts';
import { openDatabase } from '../../src/db/database.ts';
import { checkKey } from '../../src/db/sealing/sealing.ts';
import { ensureMachineOwner } from '../../src/features/auth/bootstrap.ts';
import { makeToken } from '../../src/lib/token.ts';
import { copyEmbedded } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { backupDirectory } from './backups.ts';
import { runHere } from './collect.ts';
import { serve, sharedServer } from './served.ts';

const server = sharedServer();
const { at, isThere } = backupDirectory();

describe('heddle backup', () => {
  it('reports a backup that only the operator can restore, and `heddle restore` refuses it', async () => {
    await using own = await serve();
    await own.api.engine.database.asOwner([
      "update audit_events set meta = jsonb_build_object('text', repeat('x', 5000000))",
    ]);
    const { code, out } = await own.heddle(['backup', at('large.gz')]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/It is too large for `heddle restore`: one of its lines .* run `heddle operator restore`/),
    ]);
    const { document } = await own.json('backup', at('large.gz'), '--force');
    expect(document).toMatchObject({ operatorOnly: expect.stringContaining('one of its lines') });
    const refused = await own.heddle(['restore', at('large.gz'), '--replace', own.api.account, '--auto-approve']);
    expect([refused.code, refused.note]).toEqual([1, expect.stringContaining('`heddle operator restore`')]);
    const asked = await own.heddle(['restore', at('large.gz'), '--replace', own.api.account], { interactive: true });
    expect([asked.code, asked.note]).toEqual([
      1,
      expect.stringContaining('too large for `heddle restore`: one of its'),
    ]);
    expect(asked.note).toContain('Nothing was restored.');
    await writeFile(at('longer.gz'), Buffer.alloc(64 * 1024 * 1024 + 1));
    const longer = await own.heddle(['restore', at('longer.gz'), '--auto-approve']);
    expect([longer.code, longer.note]).toEqual([1, expect.stringContaining('it has more than 64 MiB. Nothing was')]);
  });
});

describe('heddle operator', () => {
  const key = randomBytes(32).toString('base64');

  it('backs up and restores whole accounts at the database, given the secret key of the server', async () => {
    const [here, there] = [at('here'), at('there')];
    await copyEmbedded(here);
    await copyEmbedded(there);
    const env = { HEDDLE_SECRET_KEY: key };
    const account = await ownedAccount(here);
    const backup = ['operator', 'backup', at('operator.gz'), '--json', '--data-dir', here];
    const written = await runHere(backup, env);
    expect([written.code, JSON.parse(written.out)]).toMatchObject([0, { account, revision: 1, history: true }]);
    expect((await stat(at('operator.gz'))).mode & 0o777).toBe(0o600);
    const restore = ['operator', 'restore', at('operator.gz'), '--auto-approve', '--data-dir', there];
    const foreign = await runHere(restore, { HEDDLE_SECRET_KEY: randomBytes(32).toString('base64') });
    expect([foreign.code, foreign.note]).toEqual([1, expect.stringContaining('which this server does not have')]);
    const restored = await runHere(restore, env);
    expect([restored.code, restored.out]).toEqual([0, expect.stringContaining(`Restored the account ${account}`)]);
    const [, requestId = ''] = /list it under the request id ([\da-f-]{36})\.\n/.exec(restored.out) ?? [];
    expect(await revisionsBy(requestId, there)).toEqual([{ account_id: account }]);
    const again = await runHere([...restore, '--json'], env);
    expect([again.code, JSON.parse(again.out)]).toMatchObject([
      4,
      { error: { message: expect.stringContaining('--replace') } },
    ]);
    expect((await runHere([...restore, '--replace', account], env)).code).toBe(0);
  });

  it('requires the secret key of the installation, creates none, and seals in the form of its servers', async () => {
    const dataDir = at('keyed');
    await copyEmbedded(dataDir);
    await ownedAccount(dataDir);
    const right = environmentOfKeys([Buffer.from(key, 'base64')], 'unbound');
    const options = { databaseUrl: undefined, dataDir, preparedStatements: true, secretKeyFile: undefined };
    await withDatabase({ ...options, secretKey: key }, async ({ database, registry, planEnvironment }) => {
      expect(planEnvironment.vault.form).toBe('bound');
      await database.asOwner(["insert into sealing (form) values ('unbound')"]);
      await checkKey(database, registry, right.vault);
    });
    await withDatabase({ ...options, secretKey: key }, async ({ planEnvironment }) => {
      expect(planEnvironment.vault.form).toBe('unbound');
    });
    const backup = ['operator', 'backup', at('keyed.gz'), '--data-dir', dataDir];
    const foreign = await runHere(backup, { HEDDLE_SECRET_KEY: randomBytes(32).toString('base64') });
    expect([foreign.code, foreign.note]).toEqual([
      1,
      expect.stringContaining('does not match the key that sealed the secrets of this installation'),
    ]);
    const none = await runHere(backup, {});
    expect([none.code, none.note]).toEqual([1, expect.stringContaining('put the file secret.key back')]);
    expect([await isThere('keyed.gz'), await isThere('keyed/secret.key')]).toEqual([false, false]);
  });

  it('restores a file of more than 2 GiB', async () => {
    const [here, there] = [at('long-here'), at('long-there')];
    await copyEmbedded(here);
    await copyEmbedded(there);
    const account = await ownedAccount(here);
    const file = at('long.gz');
    const env = { HEDDLE_SECRET_KEY: key };
    expect((await runHere(['operator', 'backup', file, '--data-dir', here], env)).code).toBe(0);
    // Zeros after the end of compressed data are ignored, and need no space on the disk.
    await truncate(file, 2 ** 31 + 1);
    const restored = await runHere(['operator', 'restore', file, '--auto-approve', '--data-dir', there], env);
    expect([restored.note, restored.out]).toEqual(['', expect.stringContaining(`Restored the account ${account}`)]);
  });

  it('accepts an unsigned archive only with --accept-unsigned', async () => {
    await server().heddle(['backup', at('signed.gz')]);
    const lines = gunzipSync(await readFile(at('signed.gz')))
      .toString()
      .trimEnd()
      .split('\n');
    const { key: _, signature: __, ...end } = JSON.parse(lines.at(-1) ?? '');
    await writeFile(at('unsigned.gz'), gzipSync(`${[...lines.slice(0, -1), JSON.stringify(end)].join('\n')}\n`));
    const there = at('unsigned');
    await copyEmbedded(there);
    const restore = ['operator', 'restore', at('unsigned.gz'), '--auto-approve', '--data-dir', there];
    const refused = await runHere(restore, { HEDDLE_SECRET_KEY: key });
    expect([refused.code, refused.note]).toEqual([1, expect.stringContaining('--accept-unsigned')]);
    expect((await runHere([...restore, '--accept-unsigned'], { HEDDLE_SECRET_KEY: key })).code).toBe(0);
  });

  /** Returns the revisions in the history that a request wrote, by the id of the request. */
  async function revisionsBy(requestId: string, dataDir: string): Promise<readonly unknown[]> {
    const database = await openDatabase({ dataDir });
    const text = 'select account_id from revisions where http_request = $1';
    const rows = await database.lookUp(CompiledQuery.raw(text, [requestId]));
    await database.close();
    return rows;
  }

  async function ownedAccount(dataDir: string): Promise<string> {
    const database = await openDatabase({ dataDir });
    try {
      const engine = createEngine({ database });
      const tokenOfOwner = makeToken('nbp_', new Uint8Array(32).fill(3));
      const first = { firstObjects: engine.firstObjects, report: () => {} };
      return present(await ensureMachineOwner(engine, { dataDir, token: tokenOfOwner, ...first })).account;
    } finally {
      await database.close();
    }
  }
});
