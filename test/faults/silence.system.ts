import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import { renewIdpKeys } from '../../src/db/accounts/idp-keys.ts';
import { insertToken } from '../../src/db/accounts/tokens.ts';
import { commitTogether, type TogetherInput } from '../../src/db/commit/commit-together.ts';
import { type FoldTarget, foldStep } from '../../src/db/commit/compaction.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { deleteBatchesBefore, dropPartitionsBefore, makePartitionsAhead } from '../../src/db/logs/feed-partitions.ts';
import { feeds } from '../../src/db/logs/feeds.ts';
import { beginSealing } from '../../src/db/sealing/sealing.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { apiOn, type TestApi, token } from '../api/setup.ts';
import { programFile } from '../setup/bundle.ts';
import { testDatabase } from '../setup/database.ts';
import { present } from '../setup/present.ts';
import { serverProcess } from '../setup/server-process.ts';
import { openCuttingProxy } from './cutting-proxy.ts';

/** Maximum time for which a silent server may block the writes of other servers, in milliseconds. */
const mostMs = 15_000;

it('a server that is stopped or cut off from the network blocks writes for at most 15 s, and blocks no reads', async () => {
  // All three run at the same time, because they mostly wait.
  await Promise.all([stopped(), behindDark('both'), behindDark('gone')]);
});

const nothing: TogetherInput = {
  inputs: [],
  newAccounts: [],
  entries: [],
  identities: [],
  extraWrites: [],
  deletedAccounts: [],
};
const at = '2026-03-04T05:06:07.000Z';

const target: FoldTarget = { account: 'a', revision: 1 };
const times = { rotateAfter: 0, keepRetired: 0 };

describe('a write as the owner of the database', () => {
  it.each<readonly [string, (database: Database) => Promise<unknown>]>([
    [
      'several accounts',
      (database) =>
        commitTogether(database, {
          ...nothing,
          entries: [{ account: 'a', kind: 'domain', value: 'a.example.com', subject: 'a' }],
        }),
    ],
    [
      'an account that goes',
      (database) => commitTogether(database, { ...nothing, deletedAccounts: [{ account: 'a', revision: 1 }] }),
    ],
    [
      'a first token',
      (database) =>
        insertToken(database, {
          ...{ account: 'a', id: 't', user: 'u', name: 't', hash: 'h' },
          ...{ createdBy: 'u', createdAt: at, expiresAt: at },
        }),
    ],
    ['keys of the identity provider', (database) => renewIdpKeys(database, times, () => ({ id: 'k', sealed: 's' }))],
    ['history that is folded', (database) => foldStep(database, productRegistry(), target)],
    ['partitions that are made', (database) => makePartitionsAhead(database, Date.parse(at))],
    ['partitions that go', (database) => dropPartitionsBefore(database, present(feeds[0]), Date.parse(at))],
    ['reports that are forgotten', (database) => deleteBatchesBefore(database, Date.parse(at))],
    ['secrets that are bound to their contexts', (database) => beginSealing(database)],
  ])('gives up a silent connection: %s', async (_, write) => {
    await using made = await testDatabase('postgres');
    await using proxy = await openCuttingProxy(made.url ?? '', Math.random);
    const database = await openDatabase({ url: proxy.url, poolSize: 1, silenceMs: 200 });
    await database.ping();
    proxy.set('dark');
    const error = await write(database).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Unavailable);
    expect(error).toMatchObject({ inDoubt: true, message: expect.stringContaining('cannot be reached') });
    proxy.set('clear');
    await database.close();
  });

  it('waits for the lock of an account to delete no longer than other writes do', async () => {
    await using made = await testDatabase('postgres');
    await made.database.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"]);
    const holder = new pg.Client({ connectionString: made.url });
    await holder.connect();
    try {
      await holder.query('begin');
      await holder.query('select from accounts for update');
      const going = commitTogether(made.database, { ...nothing, deletedAccounts: [{ account: 'a', revision: 0 }] });
      await expect(going).rejects.toMatchObject({ reason: 'locked' });
    } finally {
      await holder.end();
    }
    const going = commitTogether(made.database, { ...nothing, deletedAccounts: [{ account: 'a', revision: 0 }] });
    expect(await going).toBe('written');
  });
});

async function stopped(): Promise<void> {
  const made = await testDatabase('postgres');
  await using api = await apiOn(made.database, () => made[Symbol.asyncDispose]());
  const holder = fork(programFile('test/faults/holder.ts'), [made.url ?? '', api.account], serverProcess());
  await once(holder, 'message');
  holder.kill('SIGSTOP');
  try {
    await expectSoonFree(api);
  } finally {
    await end(holder);
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/**
 * Cuts the network while a session has the account lock. `both`: the network returns afterwards. `gone`: it does not
 * return, as when the host has failed too.
 */
async function behindDark(what: 'both' | 'gone'): Promise<void> {
  const made = await testDatabase('postgres');
  await using api = await apiOn(made.database, () => made[Symbol.asyncDispose]());
  await using proxy = await openCuttingProxy(made.url ?? '', Math.random);
  const other = await openDatabase({ url: proxy.url, poolSize: 1, silenceMs: 2000 });
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: holds } = Promise.withResolvers<void>();
  const holding = other.withAccountLock(api.account, async () => {
    holds();
    await gate;
  });
  await held;
  proxy.set('dark');
  const failed = expect(holding).rejects.toThrow('The database cannot be reached');
  await expectSoonFree(api);
  if (what === 'both') proxy.set('clear');
  release();
  await failed;
  await other.close();
}

/**
 * Repeats a write until it succeeds, and expects that within `mostMs`. Every read must succeed, and earlier writes must
 * get 423.
 */
async function expectSoonFree(api: TestApi): Promise<void> {
  const begun = performance.now();
  const statuses: number[] = [];
  while (statuses.at(-1) !== 200) {
    const [written, read] = await Promise.all([
      api.call('POST', '/api/groups', { name: 'devs' }),
      api.call('GET', '/api/users/current', undefined, { authorization: `Token ${token}` }),
    ]);
    expect(read.status).toBe(200);
    statuses.push(written.status);
  }
  expect(performance.now() - begun).toBeLessThan(mostMs);
  expect(statuses.slice(0, -1).every((status) => status === 423)).toBe(true);
}
