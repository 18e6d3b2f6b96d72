import { describe, expect, it } from 'vitest';
import { createEngine } from '../../src/app.ts';
import { bootstrapAccount } from '../../src/commit/bootstrap.ts';
import { isOperatorAccount, operatorAccountOf } from '../../src/commit/operator.ts';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { eachEngine, emptyDatabase, testDatabase } from '../setup/database.ts';
import { firstObjects } from './office.ts';

const actor = { type: 'system', id: 'sys', name: 'system' } as const;

/** Creates or finds the account of the database, as the start of a server does. */
function start(database: Database, named?: string) {
  const engine = createEngine({ database });
  return bootstrapAccount(engine, actor, (id) => firstObjects(engine, id), named);
}

/** Writes the head row of an account. */
async function putAccount(database: Database, id: string, at: string): Promise<void> {
  await database.asOwner(async (run) => {
    await run('insert into accounts (account_id, revision, created_at) values ($1, 1, $2)', [id, at]);
  });
}

eachEngine('the operator account (%s)', (name) => {
  it('is the account that the first start creates, even if another one has an older date', async () => {
    await using made = await testDatabase(name);
    const { database } = made;
    const first = await start(database);
    await putAccount(database, 'older', '2001-01-01T00:00:00Z');
    expect(await operatorAccountOf({ database })).toBe(first?.account);
    expect(await isOperatorAccount({ database }, 'older')).toBe(false);
    expect(await start(database)).toEqual({ account: first?.account, created: false });
  });

  it('is undefined when it was deleted and others exist, until one is named; that one is recorded', async () => {
    await using made = await testDatabase(name);
    const { database } = made;
    const first = await start(database);
    await putAccount(database, 'stranger', '2030-01-01T00:00:00Z');
    await database.asOwner(async (run) => {
      for (const table of ['object_keys', 'object_refs', 'declared', 'objects', 'accounts'])
        await run(`delete from ${table} where account_id = $1`, [first?.account]);
    });
    expect(await start(database)).toBeUndefined();
    expect(await operatorAccountOf({ database })).toBeUndefined();
    expect(await start(database, 'stranger')).toEqual({ account: 'stranger', created: false });
    expect(await start(database)).toEqual({ account: 'stranger', created: false });
  });

  it('must exist when HEDDLE_OPERATOR_ACCOUNT names it', async () => {
    await using made = await testDatabase(name);
    await start(made.database);
    await expect(start(made.database, 'nobody')).rejects.toThrow('HEDDLE_OPERATOR_ACCOUNT names nobody');
  });

  it('is not accessible to the database role of accounts', async () => {
    await using made = await testDatabase(name);
    await start(made.database);
    await made.database.asOwner(async (run) => {
      const [right] = await run(
        "select has_table_privilege('heddle_app', 'operator', 'select, insert, update, delete') as has",
      );
      expect(right).toEqual({ has: false });
    });
  });
});

describe('a database from before the operator table', () => {
  const before = migrations.filter(({ name }) => name < '0025');

  it.each([
    ['one account', ['a'], 'a'],
    ['several accounts', ['a', 'b'], undefined],
    ['no account', [], undefined],
  ])(
    'with %s: the migration records an account as operator only if it is the only one',
    async (_, accounts, operator) => {
      const database = await openDatabase({ url: await emptyDatabase() });
      try {
        await migrate(database, { migrations: before });
        for (const id of accounts) await putAccount(database, id, '2026-01-01T00:00:00Z');
        await migrate(database);
        expect(await operatorAccountOf({ database })).toBe(operator);
      } finally {
        await database.close();
      }
    },
  );
});
