import { describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { ReadOnlyDatabase } from '../../src/db/unusable-database.ts';
import { Unavailable } from '../../src/model/errors.ts';
import { testDatabase } from '../setup/database.ts';
import { withInAccount } from '../setup/without-account-filter.ts';
import { apiOn } from './setup.ts';

describe('an answer that cannot be stored because the database accepts no writes', () => {
  it('is sent at once, also when the connection broke before, and a repetition gets the same body', async () => {
    await using made = await testDatabase('postgres');
    const url = new URL(made.url ?? '');
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    const readOnly = await openDatabase({ url: url.href });
    let isBroken = false;
    const inAccount: Database['inAccount'] = async (account, statements, options) => {
      if (!statements.some(({ sql }) => sql.startsWith('update idempotency_keys set status')))
        return made.database.inAccount(account, statements, options);
      if (!isBroken) return readOnly.inAccount(account, statements, options);
      isBroken = false;
      throw new Unavailable('the connection was reset', { inDoubt: true });
    };
    await using own = await apiOn(withInAccount(made.database, inAccount), () => readOnly.close());
    for (const name of ['devs', 'ops']) {
      isBroken = name === 'ops';
      const begun = performance.now();
      const first = await own.call('POST', '/api/groups', { name }, { 'idempotency-key': name });
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(own.defects.splice(0)).toEqual([expect.any(ReadOnlyDatabase)]);
      const again = await own.call('POST', '/api/groups', { name }, { 'idempotency-key': name });
      expect([first.status, again.status, again.body, again.headers['idempotency-replayed']]).toEqual([
        200,
        200,
        first.body,
        'true',
      ]);
      expect((await own.call('GET', `/api/groups?name=${name}`)).body).toHaveLength(1);
    }
  });
});
