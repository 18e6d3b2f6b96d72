import { CompiledQuery, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { queryBuilder } from '../../src/db/builder.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { Internal, Unavailable } from '../../src/model/errors.ts';
import {
  copyEmbedded,
  eachEngine,
  emptyDatabase,
  migratedDatabase,
  temporaryDirectory,
  testDatabase,
} from '../setup/database.ts';
import { onConnection, onServer } from '../setup/sql.ts';

const moment = new Date('2026-01-02T03:04:05.678Z');
const revisionOf = queryBuilder.selectFrom('accounts').select(['account_id', 'revision']).compile();
const insertAccount = (id: string) =>
  queryBuilder.insertInto('accounts').values({ account_id: id, created_at: moment }).compile();
const insertKey = (account: string, value: string) =>
  queryBuilder
    .insertInto('object_keys')
    .values({ account_id: account, kind: 'Group', rule: 'key', value, object_id: 'o' })
    .compile();
const raw = <Row>(text: string, ...parameters: unknown[]) => CompiledQuery.raw(text, parameters) as CompiledQuery<Row>;

async function accounts(database: Database): Promise<readonly string[]> {
  const rows = await database.lookUp(
    queryBuilder.selectFrom('accounts').select('account_id').orderBy('account_id').compile(),
  );
  return rows.map((row) => row.account_id);
}

async function keys(database: Database, account: string): Promise<readonly string[]> {
  const [rows] = await database.inAccount(account, [
    queryBuilder.selectFrom('object_keys').select('value').orderBy('value').compile(),
  ]);
  return rows.map((row) => row.value);
}

eachEngine('a database (%s)', (engine) => {
  it('returns the typed rows of each statement of a transaction', async () => {
    await using test = await testDatabase(engine);
    const [created, revisions] = await test.database.inAccount('a', [insertAccount('a'), revisionOf], { write: true });
    const revision: number | undefined = revisions[0]?.revision;
    expect([created, revision]).toEqual([[], 0]);
  });

  it('commits all statements of a transaction or none (E96)', async () => {
    await using test = await testDatabase(engine);
    const twice = [insertKey('a', 'x'), insertKey('a', 'y'), insertKey('a', 'x'), insertKey('a', 'z')];
    await expect(test.database.inAccount('a', twice, { write: true })).rejects.toMatchObject({ code: '23505' });
    expect(await keys(test.database, 'a')).toEqual([]);
  });

  it('reports the first error, not the skipped statements nor the ROLLBACK answer to COMMIT (E97)', async () => {
    await using test = await testDatabase(engine);
    const statements = [insertKey('a', 'x'), raw('select 1 / 0'), insertKey('a', 'y')];
    await expect(test.database.inAccount('a', statements, { write: true })).rejects.toMatchObject({ code: '22012' });
    expect(await keys(test.database, 'a')).toEqual([]);
  });

  it('reports an error of the COMMIT alone', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    await database.asOwner([
      'alter table object_refs alter constraint object_refs_account_id_to_id_fkey deferrable initially deferred',
      'alter table object_refs alter constraint object_refs_account_id_from_id_fkey deferrable initially deferred',
    ]);
    const dangling = queryBuilder
      .insertInto('object_refs')
      .values({ account_id: 'a', from_id: 'x', field: 'f', to_id: 'y' })
      .compile();
    await expect(database.inAccount('a', [dangling], { write: true })).rejects.toMatchObject({ code: '23503' });
    expect(await database.inAccount('a', [queryBuilder.selectFrom('object_refs').selectAll().compile()])).toEqual([[]]);
  });

  it('stays usable after an SQL error', async () => {
    await using test = await testDatabase(engine);
    for (let turn = 0; turn < 30; turn += 1) {
      await expect(test.database.inAccount('a', [raw('select 1 / 0')])).rejects.toMatchObject({ code: '22012' });
      await expect(test.database.lookUp(raw('select from nowhere'))).rejects.toMatchObject({ code: '42P01' });
    }
    expect(await test.database.lookUp(raw('select 1 as one'))).toEqual([{ one: 1 }]);
  });

  it('refuses parameters that the engines would serialize differently, before sending anything', async () => {
    await using test = await testDatabase(engine);
    const statement = raw('select $1::jsonb', { a: 1 });
    await expect(test.database.inAccount('a', [insertKey('a', 'x'), statement], { write: true })).rejects.toThrow(
      Internal,
    );
    await expect(test.database.lookUp(statement)).rejects.toThrow('pass JSON as text');
    expect(await keys(test.database, 'a')).toEqual([]);
  });

  it('returns only rows of the account, even to a statement without a filter', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    await database.inAccount('a', [insertAccount('a'), insertKey('a', 'of a')], { write: true });
    await database.inAccount('b', [insertAccount('b'), insertKey('b', 'of b')], { write: true });
    expect(await keys(database, 'a')).toEqual(['of a']);
    expect(await keys(database, 'b')).toEqual(['of b']);
    expect(await keys(database, '')).toEqual([]);
    const [changed] = await database.inAccount('a', [
      queryBuilder.updateTable('accounts').set({ revision: 9 }).returning('account_id').compile(),
    ]);
    expect(changed).toEqual([{ account_id: 'a' }]);
    const [gone] = await database.inAccount('a', [queryBuilder.deleteFrom('object_keys').returning('value').compile()]);
    expect(gone).toEqual([{ value: 'of a' }]);
    expect(await keys(database, 'b')).toEqual(['of b']);
  });

  it('refuses to write into another account', async () => {
    await using test = await testDatabase(engine);
    await expect(test.database.inAccount('a', [insertKey('b', 'x')], { write: true })).rejects.toMatchObject({
      code: '42501',
    });
    expect(await keys(test.database, 'b')).toEqual([]);
  });

  it('runs as a role without ownership, inside the transaction only', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    const whoami = raw<{ role: string; account: string | null }>(
      "select current_user as role, nullif(current_setting('heddle.account', true), '') as account",
    );
    expect(await database.inAccount('a', [whoami])).toEqual([[{ role: 'heddle_app', account: 'a' }]]);
    const [outside] = await database.lookUp(whoami);
    expect(outside?.role).not.toBe('heddle_app');
    expect(outside?.account).toBeNull();
    await expect(database.inAccount('a', [raw('alter table accounts add extra int')])).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('looks up directory rows across accounts', async () => {
    await using test = await testDatabase(engine);
    const entry = queryBuilder
      .insertInto('directory')
      .values({ account_id: 'a', kind: 'token', value: 'h', subject_id: 't' })
      .compile();
    await test.database.inAccount('a', [entry], { write: true });
    const found = await test.database.lookUp(
      queryBuilder.selectFrom('directory').select('account_id').where('value', '=', 'h').compile(),
    );
    expect(found).toEqual([{ account_id: 'a' }]);
  });

  it('reads one consistent state and refuses writes in a snapshot', async () => {
    await using test = await testDatabase(engine);
    const modes = raw(
      "select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as only",
    );
    const [asked] = await test.database.inAccount('a', [modes], { snapshot: true });
    expect(asked).toEqual([{ isolation: 'repeatable read', only: 'on' }]);
    await expect(test.database.inAccount('a', [insertKey('a', 'x')], { snapshot: true })).rejects.toMatchObject({
      code: '25006',
    });
  });

  it('applies timeouts to a commit, and resets them afterwards', async () => {
    await using test = await testDatabase(engine);
    const limits = raw(
      "select current_setting('enable_seqscan') as scans, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock",
    );
    const [inside] = await test.database.inAccount('a', [limits], { write: true });
    expect(inside).toEqual([{ scans: 'off', statement: '30s', lock: '5s' }]);
    expect(await test.database.lookUp(limits)).toEqual([{ scans: 'on', statement: '0', lock: '0' }]);
  });

  it('reads every column type of the schema the same on both engines', async () => {
    await using test = await testDatabase(engine);
    const { lookUp } = test.database;
    const types = sql<
      Record<string, unknown>
    >`select 9007199254740991::bigint as "bigint", 7 as "int", count(*) as "count", sum(2::bigint) as "sum",
      'x'::text as "text", true as "boolean", null::text as "nothing", '{"b":[1,"2",null],"a":{}}'::jsonb as "object", '[1]'::jsonb as "list",
      '"s"'::jsonb as "string", 'null'::jsonb as "null", ${moment}::timestamptz as "time", array['a','b']::text[] as "texts",
      array[1,2]::bigint[] as "bigints", ${['c', 'd']}::text[] as "sent", ${JSON.stringify([1, 'é', null])}::jsonb as "json"`.compile(
      queryBuilder,
    );
    expect(await lookUp.call(test.database, types)).toEqual([
      {
        bigint: 9007199254740991,
        int: 7,
        count: 1,
        sum: 2,
        text: 'x',
        boolean: true,
        nothing: null,
        object: { a: {}, b: [1, '2', null] },
        list: [1],
        string: 's',
        null: null,
        time: moment,
        texts: ['a', 'b'],
        bigints: [1, 2],
        sent: ['c', 'd'],
        json: [1, 'é', null],
      },
    ]);
  });

  it('runs the statements of the owner in one transaction', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    await expect(database.asOwner(['create table extra (a int)', 'select from nowhere'])).rejects.toMatchObject({
      code: '42P01',
    });
    const failing = database.asOwner(async (run) => {
      await run('create table extra (a int)');
      throw new Internal('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    await database.asOwner(async (run) => {
      expect(await run('select to_regclass($1) as extra', ['extra'])).toEqual([{ extra: null }]);
    });
  });

  it('counts written rows and vacuums without disturbing queries', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    await database.inAccount('a', [
      raw("insert into object_keys select 'a', 'Group', 'key', n::text, 'o' from generate_series(1, 10000) n"),
    ]);
    database.countWrittenRows(10_000);
    expect(await keys(database, 'a')).toHaveLength(10_000);
    await database.ping();
    if (engine === 'postgres') return;
    const estimate = raw("select reltuples::int as rows from pg_class where relname = 'object_keys'");
    expect(await database.lookUp(estimate)).toEqual([{ rows: 10_000 }]);
  });

  it('can be closed twice, and is unavailable once closed', async () => {
    const dataDir = await temporaryDirectory();
    if (engine === 'embedded') await copyEmbedded(dataDir);
    const database = await openDatabase(engine === 'embedded' ? { dataDir } : { url: await emptyDatabase() });
    await database.close();
    await database.close();
    await expect(database.ping()).rejects.toThrow(Unavailable);
    await expect(database.inAccount('a', [revisionOf])).rejects.toThrow(Unavailable);
  });
});

describe('a Postgres connection', () => {
  const prepared = raw<{ name: string; statement: string }>(
    'select name, statement from pg_prepared_statements order by statement',
  );

  async function namesAfterUse(preparedStatements: boolean): Promise<readonly string[]> {
    await using test = await testDatabase('postgres');
    const database = await openDatabase({ url: String(test.url), poolSize: 1, preparedStatements });
    for (let turn = 0; turn < 2; turn += 1) await database.inAccount('a', [revisionOf]);
    const rows = await database.lookUp(prepared);
    await database.close();
    return rows.map((row) => row.statement);
  }

  it('prepares each statement once, under a name', async () => {
    const statements = await namesAfterUse(true);
    expect(statements.filter((statement) => statement.includes('"accounts"'))).toHaveLength(1);
    expect(statements.filter((statement) => statement.includes("set_config('role'"))).toHaveLength(1);
  });

  it('prepares no statement when configured so, for PgBouncer', async () => {
    expect(await namesAfterUse(false)).toEqual([]);
  });

  it('is replaced when a column of a statement that it has prepared changed its type', async () => {
    await using test = await testDatabase('postgres');
    const url = String(test.url);
    await onServer(url, 'create table changing as select 5 as value');
    const database = await openDatabase({ url, poolSize: 1 });
    const read = raw<{ value: unknown }>('select value from changing');
    expect(await database.lookUp(read)).toEqual([{ value: 5 }]);
    await onServer(url, 'alter table changing alter value type text');
    await expect(database.lookUp(read)).rejects.toThrow(Unavailable);
    expect(await database.lookUp(read)).toEqual([{ value: '5' }]);
    await database.close();
  });

  it.each([true, false])('is reused after a transaction failed halfway (prepared: %s)', async (preparedStatements) => {
    await using test = await testDatabase('postgres');
    const database = await openDatabase({ url: String(test.url), poolSize: 1, preparedStatements });
    const connection = raw<{ pid: number }>('select pg_backend_pid() as pid');
    const [[before]] = await database.inAccount('a', [connection]);
    // The statement after the error is new to the connection, and Postgres skips it.
    const skipped = raw('select 2 as two');
    const failing = database.inAccount('a', [insertAccount('a'), raw('select 1 / 0'), skipped, skipped], {
      write: true,
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(await database.inAccount('a', [skipped, revisionOf, skipped, connection])).toEqual([
      [{ two: 2 }],
      [],
      [{ two: 2 }],
      [before],
    ]);
    await database.close();
  });

  it('reports writes as unavailable while Postgres accepts none, and writes again once it does', async () => {
    const url = await migratedDatabase();
    const name = new URL(url).pathname.slice(1);
    const database = await openDatabase({ url, poolSize: 1 });
    const token = raw("insert into directory (account_id, kind, value, subject_id) values ('a', 'token', 'h', 't')");
    const writes = [
      () => database.inAccount('a', [insertKey('a', 'x')], { write: true }),
      () => database.withAccountLock('a', ({ inAccount }) => inAccount('a', [insertKey('a', 'y')])),
      () => database.asOwner(["insert into accounts (account_id, created_at) values ('b', now())"], { write: 'short' }),
      () => database.lookUp(token),
    ];
    for (const write of writes) {
      await onServer(url, `alter database ${name} set default_transaction_read_only to on`);
      // Only new connections have the setting.
      await database.lookUp(raw('select pg_terminate_backend(pg_backend_pid())')).catch(() => undefined);
      await expect(write()).rejects.toMatchObject({
        name: 'ReadOnlyDatabase',
        message: 'The database accepts no writes at the moment; nothing was written.',
        inDoubt: false,
      });
      await expect(write()).rejects.toBeInstanceOf(Unavailable);
      expect(await keys(database, 'b')).toEqual([]);
      await onConnection(url, async (ask) => {
        await ask('set default_transaction_read_only to off');
        await ask(`alter database ${name} reset default_transaction_read_only`);
      });
      await expect(write()).rejects.toBeInstanceOf(Unavailable);
      await write();
    }
    expect(await keys(database, 'a')).toEqual(['x', 'y']);
    await database.close();
  });

  it('of one account does not block writes of another account (E100)', async () => {
    await using test = await testDatabase('postgres');
    const { database } = test;
    await database.inAccount('a', [insertAccount('a')], { write: true });
    await database.inAccount('b', [insertAccount('b')], { write: true });
    await database.asOwner(async (run) => {
      await run("select from accounts where account_id = 'a' for no key update");
      const [rows] = await database.inAccount(
        'b',
        [queryBuilder.updateTable('accounts').set({ revision: 1 }).returning('revision').compile()],
        { write: true },
      );
      expect(rows).toEqual([{ revision: 1 }]);
    });
  });

  it('runs a transaction of the owner again, once, when it was ended because the process stood still', async () => {
    await using test = await testDatabase('postgres');
    const { database } = test;
    let attempts = 0;
    const insertAfterPauses = async (account: string, pauses: number, atEnd = false) => {
      attempts = 0;
      await database.asOwner(async (run) => {
        attempts += 1;
        await run('insert into accounts (account_id, created_at) values ($1, now())', [account]);
        if (attempts > pauses) return;
        const [{ pid } = {}] = await run<{ pid: number }>('select pg_backend_pid() as pid');
        await run("set local idle_in_transaction_session_timeout = '1ms'");
        const sessions = raw(`select from pg_stat_activity where pid = ${pid}`);
        await expect.poll(() => database.lookUp(sessions)).toEqual([]);
        if (!atEnd) await run('select 1');
      });
    };
    await insertAfterPauses('once', 1);
    expect([attempts, await accounts(database)]).toEqual([2, ['once']]);
    await expect(insertAfterPauses('twice', 2)).rejects.toThrow('idle-in-transaction timeout');
    expect([attempts, await accounts(database)]).toEqual([2, ['once']]);
    await insertAfterPauses('before the commit', 1, true);
    expect([attempts, await accounts(database)]).toEqual([2, ['before the commit', 'once']]);
  });

  it('does not run a transaction of the owner again when its connection broke for another reason', async () => {
    await using test = await testDatabase('postgres');
    const { database } = test;
    let attempts = 0;
    const terminated = database.asOwner(async (run) => {
      attempts += 1;
      await run('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(terminated).rejects.toBeInstanceOf(Unavailable);
    expect(attempts).toBe(1);
  });

  it('is shared by more callers than the pool has connections, also after errors', async () => {
    await using test = await testDatabase('postgres');
    const database = await openDatabase({ url: String(test.url), poolSize: 2 });
    const calls = Array.from({ length: 60 }, (_, turn) =>
      database.inAccount('a', [turn % 3 === 0 ? raw('select 1 / 0') : revisionOf]),
    );
    const results = await Promise.allSettled(calls);
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(40);
    await database.close();
  });
});
