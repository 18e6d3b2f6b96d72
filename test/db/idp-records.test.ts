import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { productRegistry } from '../../src/app.ts';
import { deleteEndedRecords, deleteRecordsOfUser } from '../../src/db/accounts/idp-records.ts';
import { statement } from '../../src/db/builder.ts';
import { resealAll } from '../../src/db/sealing/rotate.ts';
import { createVault } from '../../src/db/sealing/vault.ts';
import { createProviderKeys } from '../../src/features/auth/provider/keys.ts';
import { createAdapter, createOwnRecords, hashId } from '../../src/features/auth/provider/records.ts';
import { eachEngine, testDatabase } from '../setup/database.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const vault = createVault([oldKey]);

eachEngine('a record of the identity provider on %s', (engine) => {
  it('is found by id, session uid or device code, and is deleted with its grant', async () => {
    await using test = await testDatabase(engine);
    const adapter = createAdapter({ database: test.database, vault });
    await adapter('Session').upsert('s1', { uid: 'u1', accountId: 'ana' }, 60);
    await adapter('DeviceCode').upsert('d1', { userCode: 'BCDFGHJK', grantId: 'g1' }, 60);
    await adapter('RefreshToken').upsert('r1', { grantId: 'g1', accountId: 'ana' }, 60);
    await adapter('Grant').upsert('g1', { accountId: 'ana' }, 60);
    expect(await adapter('Session').findByUid('u1')).toEqual({ uid: 'u1', accountId: 'ana' });
    expect(await adapter('DeviceCode').findByUserCode('BCDFGHJK')).toMatchObject({ grantId: 'g1' });
    expect(await adapter('RefreshToken').find('s1')).toBeUndefined();
    await adapter('RefreshToken').revokeByGrantId('g1');
    expect(await adapter('RefreshToken').find('r1')).toBeUndefined();
    expect(await adapter('Grant').find('g1')).toBeUndefined();
    expect(await adapter('Session').find('s1')).toBeDefined();
  });

  it('is consumed once, also by two concurrent requests', async () => {
    await using test = await testDatabase(engine);
    const codes = createAdapter({ database: test.database, vault })('AuthorizationCode');
    await codes.upsert('c1', { accountId: 'ana' }, 60);
    const both = await Promise.allSettled([codes.consume('c1'), codes.consume('c1')]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await codes.find('c1')).toMatchObject({ accountId: 'ana', consumed: expect.any(Number) });
  });

  it('is deleted with its user, except one session, and after it expires', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    const adapter = createAdapter({ database, vault });
    for (const name of ['a', 'b']) await adapter('Session').upsert(name, { uid: `u${name}`, accountId: 'ana' }, 60);
    await adapter('Session').upsert('c', { uid: 'uc', accountId: 'ben' }, 60);
    await deleteRecordsOfUser(database, 'ana', hashId('ua'));
    const left = await Promise.all(['a', 'b', 'c'].map(async (id) => (await adapter('Session').find(id))?.uid));
    expect(left).toEqual(['ua', undefined, 'uc']);
    const enter =
      "insert into directory (account_id, kind, value, subject_id) select 'acc', 'user', x, x from unnest($1::text[]) x";
    await database.lookUp(statement(enter, [['ana', 'ben']]));
    expect(await deleteEndedRecords(database)).toBe(0);
    await database.lookUp(statement("delete from directory where value = 'ben'", []));
    expect(await deleteEndedRecords(database)).toBe(1);
    await database.lookUp(statement("update idp_records set expires_at = now() - interval '10 minutes'", []));
    expect(await deleteEndedRecords(database)).toBe(1);
  });

  it('is sealed again under a new key, as are signing keys; without the key it is not found', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    const notes = createOwnRecords<string>({ database, vault }, 'Note');
    await notes.put('n1', 'known', 60);
    const before = await createProviderKeys({ database, vault, rotateAfter: 60 }).current();
    expect(await createOwnRecords({ database, vault: createVault([newKey]) }, 'Note').find('n1')).toBeUndefined();
    await resealAll(database, {
      registry: productRegistry(),
      vault: createVault([newKey, oldKey]),
      form: 'bound',
      acceptUnbound: false,
    });
    const after = { database, vault: createVault([newKey]) };
    expect(await createOwnRecords(after, 'Note').find('n1')).toBe('known');
    expect((await createProviderKeys({ ...after, rotateAfter: 60 }).current()).signing).toEqual(before.signing);
  });
});

describe('the signing keys of the identity provider', () => {
  it('are the same on two servers that start at once, and rotate when due', async () => {
    await using test = await testDatabase('postgres');
    const { database } = test;
    const open = () => createProviderKeys({ database, vault, rotateAfter: 3600, freshMs: 0 });
    const [one, two] = [open(), open()];
    const [first, same] = await Promise.all([one.current(), two.current()]);
    expect(first.signing).toEqual(same.signing);
    expect(first.signing).toHaveLength(1);
    expect((await one.renew()).signing).toEqual(first.signing);
    await database.lookUp(statement("update idp_keys set created_at = now() - interval '2 hours'", []));
    const [a, b] = await Promise.all([one.renew(), two.renew()]);
    expect(a.signing).toEqual(b.signing);
    expect(a.signing.map(({ kid }) => kid)).toEqual([expect.any(String), first.signing[0]?.kid]);
    expect(a.cookieSecret).toBe(first.cookieSecret);
    expect(one.epoch()).toBe(2);
  });
});
