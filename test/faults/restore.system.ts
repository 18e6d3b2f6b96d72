import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { copyEmbedded, emptyDatabase, temporaryDirectory } from '../setup/database.ts';
import { runHeddle, serveHeddle } from '../setup/heddle.ts';

const quickstart = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));

it('drill: a lost server is restored from its backup and its key, and its sources have nothing to do', async () => {
  const directory = await temporaryDirectory();
  const [source, lost, made, file] = ['quickstart', 'lost', 'made', 'backup.gz'].map((name) =>
    join(directory, name),
  ) as [string, string, string, string];
  await cp(quickstart, source, { recursive: true });
  // Other tests show that a server creates its own database.
  for (const dataDir of [lost, made]) await copyEmbedded(dataDir);
  let exported: string;
  {
    await using server = await serveHeddle(['--data-dir', lost, '--source', source]);
    await server.line(/documents, revision/);
    const at = ['--server', server.url, '--data-dir', lost];
    expect((await runHeddle(['backup', file, ...at])).code).toBe(0);
    exported = (await runHeddle(['export', ...at])).out;
    expect(await server.stop()).toBe(0);
  }
  const key = (await readFile(join(lost, 'secret.key'), 'utf8')).trim();
  const env = { HEDDLE_SECRET_KEY: key };
  let token: string;
  {
    await using server = await serveHeddle(['--data-dir', made], { env });
    const restore = ['operator', 'restore', file, '--auto-approve', '--data-dir', made];
    // A database that a server has open is not restored.
    const refused = await runHeddle(restore, { env });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('in use by another Heddle')]);
    expect(await server.stop()).toBe(0);
    const restored = await runHeddle(restore, { env });
    expect([restored.code, restored.err]).toEqual([0, '']);
    token = await readFile(join(lost, 'token'), 'utf8');
  }
  await using server = await serveHeddle(['--data-dir', made, '--source', source], { env });
  expect(await server.line(/source quickstart: /)).toMatch(/nothing to do/);
  // The token of the new server works, and so do the tokens of the lost server.
  const at = ['--server', server.url, '--data-dir', made];
  expect((await runHeddle(['export', ...at])).out).toBe(exported);
  await writeFile(join(directory, 'old-token'), token);
  const status = await runHeddle(['status', '--json', '--server', server.url, '--token', token.trim()]);
  expect([status.code, JSON.parse(status.out).sources]).toMatchObject([0, [{ id: 'quickstart' }]]);
}, 120_000);

it('an account moves from the embedded database to Postgres as docs/sizing.md describes, and its token still works', async () => {
  const [dataDir, url] = [await temporaryDirectory(), await emptyDatabase()];
  await copyEmbedded(dataDir);
  const file = join(dataDir, 'account.backup');
  let exported: string;
  {
    await using server = await serveHeddle(['--data-dir', dataDir, '--source', quickstart]);
    await server.line(/documents, revision/);
    exported = (await runHeddle(['export', '--server', server.url, '--data-dir', dataDir])).out;
    expect(await server.stop()).toBe(0);
  }
  const env = { HEDDLE_SECRET_KEY_FILE: join(dataDir, 'secret.key') };
  expect(await runHeddle(['operator', 'backup', file, '--data-dir', dataDir])).toMatchObject({ code: 0, err: '' });
  const restore = ['operator', 'restore', file, '--auto-approve', '--database-url', url];
  expect(await runHeddle(restore, { env })).toMatchObject({ code: 0, err: '' });
  await using server = await serveHeddle(['--data-dir', dataDir, '--database-url', url], { env });
  expect(exported).toContain('kind: Policy');
  expect((await runHeddle(['export', '--server', server.url, '--data-dir', dataDir])).out).toBe(exported);
}, 120_000);
