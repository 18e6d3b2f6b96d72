import { describe, expect, it } from 'vitest';
import { operatorAccountOf } from '../../src/commit/operator.ts';
import { findEntry } from '../../src/db/accounts/directory.ts';
import { rowsOf } from '../commit/office.ts';
import { objectsOf } from '../plan/invariants.ts';
import { backUp, everything, furnished, keys, restore } from './archive-setup.ts';
import { type TestApi, testApi } from './setup.ts';

describe('restoring an archive to a server in use', () => {
  it('adds the account, and keeps the existing one', async () => {
    await using api = await furnished();
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    // Both servers contain the token that all tests share, which would conflict, so it is deleted from the other
    // server.
    await rowsOf(other.engine.database, "delete from directory where kind = 'token' returning 1");
    const operator = await operatorAccountOf(other.engine);
    expect((await restore(other, archive)).status).toBe(200);
    const accounts = await rowsOf(other.engine.database, 'select account_id from accounts order by 1');
    expect(accounts.map(({ account_id: id }) => id)).toEqual([api.account, other.account].sort());
    expect(await operatorAccountOf(other.engine)).toBe(operator);
    expect(objectsOf(await other.engine.snapshots.fresh(api.account))).toEqual(
      objectsOf(await api.engine.snapshots.fresh(api.account)),
    );
  });

  it('is refused when a token, identity or domain of the archive belongs to another account', async () => {
    await using api = await testApi('postgres', keys);
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    // The token shared by all tests exists on both servers.
    const before = await everything(other);
    expect(await restore(other, archive)).toMatchObject({
      status: 409,
      body: {
        message: expect.stringContaining(
          'another account of this server already has entries of the archive: an entry of the kind token;',
        ),
      },
    });
    expect(await everything(other)).toBe(before);
  });

  it('names the domain of the archive that another account has, and no hash', async () => {
    await using api = await testApi('postgres', keys);
    await lead(api, 'domain', 'example.com');
    await lead(api, 'setup-key', 'hash-of-a-key');
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    await lead(other, 'domain', 'example.com');
    await lead(other, 'setup-key', 'hash-of-a-key');
    const before = await everything(other);
    const { status, body } = await restore(other, archive);
    expect([status, body['message']]).toEqual([
      409,
      expect.stringContaining('the domain example.com, an entry of the kind setup-key, an entry of the kind token;'),
    ]);
    expect(body['message']).not.toContain('hash-of-a-key');
    expect(await everything(other)).toBe(before);
  });

  it('succeeds although another account has the email address of one of its users', async () => {
    await using api = await testApi('postgres', keys);
    await lead(api, 'email', 'ada@example.com');
    const archive = await backUp(api);
    await using other = await testApi('postgres', keys);
    await other.group('used');
    await rowsOf(other.engine.database, "delete from directory where kind = 'token' returning 1");
    await lead(other, 'email', 'ada@example.com');
    expect((await restore(other, archive)).status).toBe(200);
    expect(await findEntry(other.engine.database, 'email', 'ada@example.com')).toBe(other.account);
  });

  /** Adds an entry to the directory that resolves to the account of a server. */
  const lead = ({ account, engine }: TestApi, kind: string, value: string) =>
    engine.database.asOwner([`insert into directory values ('${account}', '${kind}', '${value}', 'subject')`]);

  it("makes it the operator's account when it replaces the unused one", async () => {
    await using api = await furnished();
    await using other = await testApi('postgres', keys);
    expect((await restore(other, await backUp(api))).status).toBe(200);
    expect(await operatorAccountOf(other.engine)).toBe(api.account);
  });
});
