import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIdentityLookUp } from '../../src/db/accounts/identities.ts';
import { insertSubjectEntry } from '../../src/db/accounts/idp-people.ts';
import { type TestDatabase, testDatabase } from '../setup/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await testDatabase('postgres');
  await test.database.asOwner(["insert into accounts (account_id, created_at) values ('a', now()), ('b', now())"]);
});
afterAll(() => test[Symbol.asyncDispose]());

describe('an identity token of this server', () => {
  const token = { issuer: 'https://heddle.example.com/oidc', subject: 'u1', embedded: true };

  it('without an account resolves to the account of the last sign-in, regardless of credentials', async () => {
    const find = createIdentityLookUp(test.database);
    const credentials = (account: string) =>
      `insert into credentials (account_id, email, user_id, password_hash, changed_at) values ('${account}', 'x@example.com', 'u1', '-', now())`;
    await test.database.asOwner([credentials('a')]);
    expect(await find(token)).toBeUndefined();
    await insertSubjectEntry(test.database, 'b', 'u1');
    await insertSubjectEntry(test.database, 'a', 'u1');
    expect(await find(token)).toMatchObject({ account: 'b', user: 'u1' });
  });

  it('with an account resolves to no other account', async () => {
    const find = createIdentityLookUp(test.database);
    expect(await find({ ...token, account: 'a' })).toMatchObject({ account: 'a' });
    expect(await find({ ...token, account: 'gone' })).toBeUndefined();
  });
});
