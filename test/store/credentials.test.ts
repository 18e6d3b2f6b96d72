import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../src/store/builder.ts';
import {
  changePassword,
  findCredentials,
  hasPeople,
  putCredentials,
  readCredentials,
  setTotp,
  useTotpStep,
} from '../../src/store/credentials.ts';
import type { Database } from '../../src/store/database.ts';
import { type TestDatabase, testDatabase } from '../setup/database.ts';

let test: TestDatabase;
let database: Database;
beforeAll(async () => {
  test = await testDatabase('postgres');
  database = test.database;
  await database.asOwner(["insert into accounts (account_id, created_at) values ('a', now()), ('b', now())"]);
});
afterAll(() => test[Symbol.asyncDispose]());

const at = '2026-05-01T10:00:00.000Z';
const told = {
  actor: { type: 'user', id: 'u1', name: 'Ana' } as const,
  event: { code: 'user.password.change', target: 'u1', meta: {} },
  at,
};

async function put(email: string, user: string): Promise<void> {
  const entry = statement(
    `insert into directory (account_id, kind, value, subject_id) values ('a', 'email', $1, $2)
     on conflict (kind, value) do update set subject_id = excluded.subject_id`,
    [email.toLowerCase(), user],
  );
  await database.inAccount('a', [
    putCredentials({ account: 'a', email, user, hash: 'h1', oneTime: true, at }).statement,
    entry,
  ]);
}

describe('credentials', () => {
  it('are found by the address in any case, and by the user', async () => {
    expect(await hasPeople(database)).toBe(false);
    await put('Ana@Example.com', 'u1');
    const expected = { account: 'a', email: 'ana@example.com', user: 'u1', hash: 'h1', oneTime: true, revision: 0 };
    expect(await findCredentials(database, 'ANA@example.com')).toMatchObject(expected);
    expect(await readCredentials(database, 'a', 'u1')).toMatchObject(expected);
    expect(await findCredentials(database, 'ben@example.com')).toBeUndefined();
    expect(await hasPeople(database)).toBe(true);
  });

  it('are nothing in another account', async () => {
    await put('ana@example.com', 'u1');
    expect(await readCredentials(database, 'b', 'u1')).toBeUndefined();
    expect(await setTotp(database, { account: 'b', user: 'u1' }, { totpSecret: 'x', totpConfirmed: true })).toBe(false);
  });

  it('lead nowhere when the address is not that of their user any more', async () => {
    await put('gone@example.com', 'u2');
    await database.asOwner(["delete from directory where value = 'gone@example.com'"]);
    expect(await findCredentials(database, 'gone@example.com')).toBeUndefined();
  });

  it('change their password once, with one event, whoever else tries at the same moment', async () => {
    await put('ana@example.com', 'u1');
    const change = { account: 'a', user: 'u1', oneTime: false, replaces: 'h1' };
    const done = await Promise.all(
      ['h2', 'h3', 'h4'].map((hash) => changePassword(database, { ...change, hash }, told)),
    );
    expect(done.filter(Boolean)).toHaveLength(1);
    const [{ count }] = (await database.lookUp(
      statement<{ count: number }>(
        "select count(*) as count from audit_events where activity_code = 'user.password.change'",
        [],
      ),
    )) as [{ count: number }];
    expect(count).toBe(1);
    expect(await readCredentials(database, 'a', 'u1')).toMatchObject({ oneTime: false });
  });

  it('take each code of a second factor once', async () => {
    await put('ana@example.com', 'u1');
    const who = { account: 'a', user: 'u1' };
    expect(await setTotp(database, who, { totpSecret: 'sealed', totpConfirmed: true })).toBe(true);
    const used = await Promise.all([7, 7, 7].map((step) => useTotpStep(database, who, step)));
    expect(used.filter(Boolean)).toHaveLength(1);
    expect([await useTotpStep(database, who, 6), await useTotpStep(database, who, 8)]).toEqual([false, true]);
    expect(await readCredentials(database, 'a', 'u1')).toMatchObject({ totpSecret: 'sealed', totpStep: 8 });
  });
});
