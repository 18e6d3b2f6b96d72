import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changePassword,
  findCredentials,
  hasSignInUsers,
  putCredentials,
  readCredentials,
  reassignCredentials,
} from '../../src/db/accounts/credentials.ts';
import {
  beginTotp,
  confirmTotp,
  disableTotp,
  renewRecoveryCodes,
  useRecoveryCode,
  useTotpStep,
} from '../../src/db/accounts/totp.ts';
import type { AuditEntry } from '../../src/db/audit-entry.ts';
import { statement } from '../../src/db/builder.ts';
import type { Database } from '../../src/db/database.ts';
import type { ActivityCode } from '../../src/model/declare/activities.ts';
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
const entry: AuditEntry = {
  actor: { type: 'user', id: 'u1', name: 'Ana' },
  event: { code: 'user.password.change', target: 'u1', meta: {} },
  at,
};

async function put(email: string, user: string): Promise<void> {
  await putUser('a', email, user);
  await database.inAccount('a', [
    putCredentials({ account: 'a', email, user, hash: 'h1', oneTime: true, at }).statement,
  ]);
}

async function putUser(account: string, email: string, user: string): Promise<void> {
  await database.inAccount(account, [
    statement(
      `insert into objects (account_id, id, kind, key, name, spec, derived, owner, created_revision, updated_revision, created_at, updated_at)
       values ($1, $2, 'User', $2, $2, '{}', '{}', 'api', 1, 1, now(), now()) on conflict do nothing`,
      [account, user],
    ),
    statement(
      `insert into object_keys (account_id, kind, rule, value, object_id) values ($1, 'User', 'email', $2, $3) on conflict do nothing`,
      [account, email.toLowerCase(), user],
    ),
  ]);
}

describe('credentials', () => {
  it('are found by email address in any case, and by user', async () => {
    expect(await hasSignInUsers(database)).toBe(false);
    await put('Ana@Example.com', 'u1');
    const expected = { account: 'a', email: 'ana@example.com', user: 'u1', hash: 'h1', oneTime: true, revision: 0 };
    expect(await findCredentials(database, 'ANA@example.com')).toMatchObject([expected]);
    expect(await readCredentials(database, 'a', 'u1')).toMatchObject(expected);
    expect(await findCredentials(database, 'ben@example.com')).toEqual([]);
    expect(await hasSignInUsers(database)).toBe(true);
  });

  it('are not found in another account', async () => {
    await put('ana@example.com', 'u1');
    expect(await readCredentials(database, 'b', 'u1')).toBeUndefined();
    expect(await beginTotp(database, { account: 'b', user: 'u1' }, 'x')).toBe(false);
  });

  it('are not found when the user no longer has the email address', async () => {
    await put('gone@example.com', 'u2');
    await database.asOwner(["delete from object_keys where value = 'gone@example.com'"]);
    expect(await findCredentials(database, 'gone@example.com')).toEqual([]);
  });

  it('are found in three accounts at most: proved addresses first, then the oldest users', async () => {
    const email = 'many@example.com';
    for (const [at, account] of ['k1', 'k2', 'k3', 'k4'].entries()) {
      await database.asOwner([`insert into accounts (account_id, created_at) values ('${account}', now())`]);
      await putUser(account, email, `many-${at}`);
      await database.inAccount(account, [
        putCredentials({ account, email, user: `many-${at}`, hash: 'h', oneTime: true, at: '2026-05-01T10:00:00.000Z' })
          .statement,
      ]);
    }
    const found = async () => (await findCredentials(database, email)).map(({ account }) => account);
    expect(await found()).toEqual(['k1', 'k2', 'k3']);
    expect(await findCredentials(database, email, 'k4')).toMatchObject([{ account: 'k4', proved: false }]);
    const proved = { account: 'k4', email, user: 'many-3', hash: 'h', oneTime: false, at, proved: true };
    await database.inAccount('k4', [putCredentials(proved).statement]);
    expect(await found()).toEqual(['k4', 'k1', 'k2']);
    await database.inAccount('k4', [reassignCredentials('k4', email, 'many-4').statement]);
    await database.asOwner(["update object_keys set object_id = 'many-4' where account_id = 'k4'"]);
    await putUser('k4', 'other@example.com', 'many-4');
    expect(await findCredentials(database, email, 'k4')).toMatchObject([{ proved: true }]);
    // Gives the address to another user as a program without support for proofs would.
    await database.asOwner(["update credentials set user_id = 'many-3' where account_id = 'k4'"]);
    await database.asOwner(["update object_keys set object_id = 'many-3' where account_id = 'k4'"]);
    expect(await findCredentials(database, email, 'k4')).toMatchObject([{ proved: false }]);
  });

  it('have their password changed once, with one event, by three concurrent requests', async () => {
    await put('ana@example.com', 'u1');
    const change = { account: 'a', user: 'u1', oneTime: false, replacedHash: 'h1' };
    const done = await Promise.all(
      ['h2', 'h3', 'h4'].map((hash) => changePassword(database, { ...change, hash }, entry)),
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

  it('accept each TOTP code once', async () => {
    await put('ana@example.com', 'u1');
    const who = { account: 'a', user: 'u1' };
    expect(await beginTotp(database, who, 'sealed')).toBe(true);
    const used = await Promise.all([7, 7, 7].map((step) => useTotpStep(database, who, step)));
    expect(used.filter(Boolean)).toHaveLength(1);
    expect([await useTotpStep(database, who, 6), await useTotpStep(database, who, 8)]).toEqual([false, true]);
    expect(await readCredentials(database, 'a', 'u1')).toMatchObject({ totpSecret: 'sealed', totpStep: 8 });
  });

  it('need a second factor from its confirmation until it is disabled, with one audit event each', async () => {
    await put('ben@example.com', 'u3');
    const who = { account: 'a', user: 'u3', totpSecret: 'seen' };
    const about = (code: ActivityCode): AuditEntry => ({ ...entry, event: { code, target: 'u3', meta: {} } });
    await beginTotp(database, who, 'other');
    // The setup was begun again in another window, with another secret.
    expect(await confirmTotp(database, who, ['a'], about('user.mfa.enable'))).toBe(false);
    await beginTotp(database, who, 'seen');
    expect(await renewRecoveryCodes(database, who, ['a'], about('user.mfa.recovery.renew'))).toBe(false);
    await useTotpStep(database, who, 5);
    expect(await confirmTotp(database, who, ['a', 'b'], about('user.mfa.enable'))).toBe(true);
    expect(await confirmTotp(database, who, ['c'], about('user.mfa.enable'))).toBe(false);
    // A confirmed second factor cannot be set up again, and the code that confirmed it stays used.
    expect(await beginTotp(database, who, 'new')).toBe(false);
    expect(await useTotpStep(database, who, 5)).toBe(false);
    const used = await Promise.all(
      ['a', 'a', 'x'].map((code) => useRecoveryCode(database, who, code, about('user.mfa.recovery.use'))),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await readCredentials(database, 'a', 'u3')).toMatchObject({ totpConfirmed: true, recoveryCodes: 1 });
    expect(await disableTotp(database, who, about('user.mfa.disable'))).toBe(true);
    expect(await disableTotp(database, who, about('user.mfa.disable'))).toBe(false);
    expect(await useRecoveryCode(database, who, 'b', about('user.mfa.recovery.use'))).toBe(false);
    const rows = await database.lookUp(
      statement<{ code: string }>(
        "select activity_code as code from audit_events where target_id = 'u3' order by id",
        [],
      ),
    );
    expect(rows.map(({ code }) => code)).toEqual(['user.mfa.enable', 'user.mfa.recovery.use', 'user.mfa.disable']);
  });
});
