import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  application,
  type Counterpart,
  type Instead,
  startCounterpart,
  tenant,
} from '../integrations/directory/counterpart.ts';
import { temporaryDirectory } from '../setup/database.ts';
import { type ServedHeddle, serveHeddle } from '../setup/heddle.ts';
import { startPostgres } from '../setup/server.ts';
import { ask, openReplicas, token } from './replicas.ts';

const document = `apiVersion: heddle.dev/v1
kind: DirectoryIntegration
metadata: { name: company }
spec:
  host: directory.internal
  tenant_id: ${tenant}
  client_id: ${application}
  client_secret: { valueFrom: { envRef: HEDDLE_VALUE_DIRECTORY } }
`;

/**
 * Creates a directory of 40 users and a group, and the settings of a server with an integration that reads the
 * directory.
 */
async function openDirectory() {
  const counterpart = await startCounterpart();
  const { directory, signIn } = counterpart;
  counterpart.pageSize = 10;
  const ids = Array.from({ length: 40 }, (_, at) => `u${at}`);
  for (const id of ids) directory.putUser(id);
  directory.putGroup('g1', 'mesh-dev', ids);
  const folder = join(await temporaryDirectory(), 'team');
  await mkdir(folder);
  await writeFile(join(folder, 'directory.yaml'), document);
  const env = {
    HEDDLE_DIRECTORY_HOSTS: `directory.internal=${signIn}`,
    HEDDLE_VALUE_DIRECTORY: Buffer.from(counterpart.secret).toString('base64'),
  };
  return { counterpart, directory, flags: ['--source', folder], env };
}

/** Prepares servers that read the directory. */
async function openScene() {
  const { counterpart, directory, flags, env } = await openDirectory();
  const replicas = await openReplicas(flags, env);
  onTestFinished(() => replicas[Symbol.asyncDispose]());
  return { counterpart, directory, replicas };
}

const groupOf = async (server: ServedHeddle) => {
  const users = (await ask(server, 'GET', '/api/users')).body as readonly { readonly auto_groups: readonly string[] }[];
  return users.filter(({ auto_groups: groups }) => groups.length > 0).length;
};
const logsOf = async (server: ServedHeddle): Promise<readonly string[]> =>
  (await ask(server, 'GET', '/api/integrations/directory-idp/1/logs')).body.map(
    ({ message }: { readonly message: string }) => message,
  );

/** Returns how often the first page of a list was requested. */
const beginnings = ({ requests }: Counterpart) => requests.filter((one) => one.endsWith('/delta $select')).length;

const go: Instead = (_, answer) => answer();

test('after kill -9 during a sync, another server resumes it and applies everything as one revision', async () => {
  const { counterpart, replicas } = await openScene();
  const first = await replicas.start();
  let killed: Promise<unknown> | undefined;
  // The server is killed while it reads the users.
  counterpart.next(go, go, go, () => {
    killed = first.stop('SIGKILL');
  });
  await expect.poll(() => killed).toBeDefined();
  await killed;
  const second = await replicas.start();
  await expect.poll(() => groupOf(second)).toBe(40);
  expect(beginnings(counterpart)).toBe(2);
  expect(counterpart.faults).toEqual([]);
  // The log entry of a sync is written after its commit.
  const ended = [expect.stringMatching(/^revision \d+: 41 created, 0 changed, 0 deleted$/)];
  await expect.poll(() => logsOf(second)).toEqual(ended);
  expect([...first.lines, ...second.lines].join('\n')).not.toContain(counterpart.secret);
});

test('one of two servers syncs a directory at a time, also after kill -9; the other one reports the running sync', async () => {
  const { counterpart, directory, replicas } = await openScene();
  const first = await replicas.start();
  await expect.poll(() => groupOf(first)).toBe(40);
  const second = await replicas.start();
  let release: (() => unknown) | undefined;
  counterpart.next((_, answer) => {
    release = answer;
  });
  directory.removeUser('u0');
  const sync = (server: ServedHeddle) => ask(server, 'POST', '/api/integrations/directory-idp/1/sync');
  const asked = sync(first);
  await expect.poll(() => release).toBeDefined();
  expect((await sync(second)).body).toEqual({
    result: 'a sync is already running; the logs will show its result',
  });
  release?.();
  expect((await asked).body.result).toMatch(/1 user kept out$/);
  // The server that reads is killed. The other server takes over when the lease ends.
  directory.removeUser('u1');
  let killed: Promise<unknown> | undefined;
  counterpart.next(() => {
    killed = first.stop('SIGKILL');
  });
  await sync(first).catch(() => undefined);
  await killed;
  await expect.poll(async () => (await sync(second)).body.result, { interval: 500 }).not.toContain('already running');
  expect(await groupOf(second)).toBe(38);
  expect(counterpart.faults).toEqual([]);
});

test.each([
  // The group takes one page, the users four.
  ['while the users are read', 3],
  ['before what was read is taken over', 5],
])(
  'a sync resumes, with nothing half done, after Postgres stops %s',
  {
    timeout: 240_000,
  },
  async (_, pages) => {
    const { counterpart, directory, flags, env } = await openDirectory();
    const postgres = await startPostgres();
    onTestFinished(() => postgres[Symbol.asyncDispose]());
    const settings = {
      ...env,
      HEDDLE_BOOTSTRAP_TOKEN: token,
      HEDDLE_SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
    };
    const stopped = Promise.withResolvers<void>();
    counterpart.next(...Array.from({ length: pages }, () => go), (_, answer) => {
      // The answer of the directory arrives when nothing can be written.
      postgres
        .stop('kill')
        .then(answer)
        .then(() => stopped.resolve(), stopped.reject);
    });
    const args = ['--database-url', postgres.url('postgres'), '--data-dir', await temporaryDirectory(), ...flags];
    await using server = await serveHeddle(args, { env: { ...settings, HEDDLE_LEASE: '3s' } });
    await stopped.promise;
    await postgres.start();
    await expect.poll(() => groupOf(server).catch(() => 0)).toBe(40);
    expect(beginnings(counterpart)).toBe(2);
    await expect
      .poll(() => logsOf(server))
      .toEqual([expect.stringMatching(/^revision \d+: 41 created, 0 changed, 0 deleted$/)]);
    // Later changes are read from the delta links that were stored.
    directory.removeUser('u0');
    // The first sync may still be storing the links.
    await expect
      .poll(async () => (await ask(server, 'POST', '/api/integrations/directory-idp/1/sync')).body.result)
      .toMatch(/^39 users and 1 group were read: .*, 1 user kept out$/);
    expect(beginnings(counterpart)).toBe(2);
    expect(counterpart.faults).toEqual([]);
  },
);
