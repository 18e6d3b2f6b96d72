import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import { SchemaTooNew } from '../../src/db/schema-too-new.ts';
import { findCredentialHosts } from '../../src/db/sources/credential-hosts.ts';
import { listFormerGitHosts } from '../../src/db/sources/former-git-hosts.ts';
import { UnusableDatabase } from '../../src/db/unusable-database.ts';
import { Internal, Unavailable } from '../../src/model/errors.ts';
import { eachEngine, emptyDatabase, testDatabase } from '../setup/database.ts';
import { onConnection, onServer } from '../setup/sql.ts';

const ask = (database: Database, sql: string) =>
  database.lookUp(CompiledQuery.raw(sql) as CompiledQuery<Record<string, unknown>>);
const names = migrations.map((migration) => migration.name);
const next: Migration = {
  name: '9998_add_note',
  oldestProgram: 1,
  statements: ["alter table accounts add note text not null default 'none'"],
};
const table: Migration = {
  name: '9999_add_notes',
  oldestProgram: 1,
  statements: ['create table notes (id int)'],
};

/** Restores the schema from before the migration `table`, so that another test can use the database. */
async function undo(database: Database, { name }: Migration): Promise<void> {
  await database.asOwner(['drop table notes', `delete from heddle_schema where migration = '${name}'`]);
}

eachEngine('migrations (%s)', (engine) => {
  it('apply nothing when run again', async () => {
    await using test = await testDatabase(engine);
    expect(await migrate(test.database)).toEqual([]);
    const ledger = await ask(test.database, 'select migration from heddle_schema order by migration');
    expect(ledger.map((row) => row['migration'])).toEqual(names);
  });

  it('keep existing data', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    await database.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"]);
    expect(await migrate(database, { migrations: [...migrations, next] })).toEqual([next.name]);
    expect(await ask(database, 'select account_id, note from accounts')).toEqual([{ account_id: 'a', note: 'none' }]);
  });

  it('apply all statements or none', async () => {
    await using test = await testDatabase(engine);
    const broken = { ...table, statements: [...table.statements, 'select from nowhere'] };
    await expect(migrate(test.database, { migrations: [...migrations, broken] })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The database cannot be migrated: .*"nowhere".* restore a backup of the database\.$/,
      ),
      cause: { code: '42P01' },
    });
    await expect(ask(test.database, 'select from notes')).rejects.toMatchObject({ code: '42P01' });
    expect(await migrate(test.database, { migrations: [...migrations, table] })).toEqual([table.name]);
    await undo(test.database, table);
  });

  it('report an object that another program created before the migration, and apply once it is gone', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    await database.asOwner(['create table notes (id int)']);
    await expect(migrate(database, { migrations: [...migrations, table] })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The database cannot be migrated: relation "notes" already exists\. Nothing was changed\. .* rename it, and start again\.$/,
      ),
      cause: { code: '42P07' },
    });
    await database.asOwner(['drop table notes']);
    expect(await migrate(database, { migrations: [...migrations, table] })).toEqual([table.name]);
    await undo(database, table);
  });

  it('do not advise to drop tables or columns of Heddle when heddle_schema is older than the tables', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    const all = [...migrations, next, table];
    await migrate(database, { migrations: all });
    await database.asOwner([`delete from heddle_schema where migration = '${table.name}'`]);
    const forTable = await migrate(database, { migrations: all }).catch(String);
    expect(forTable).toMatch(
      /relation "notes" already exists\. Nothing was changed\. The tables may be newer than .* heddle_schema: restore both from the same backup\./,
    );
    await database.asOwner([`delete from heddle_schema where migration = '${next.name}'`]);
    const forColumn = await migrate(database, { migrations: all }).catch(String);
    expect(forColumn).toMatch(
      /column "note" of relation "accounts" already exists\. Nothing was changed\. .* restore a backup of the database\.$/,
    );
    expect(`${forTable} ${forColumn}`).not.toContain('drop');
    await database.asOwner(['drop table notes', 'alter table accounts drop column note']);
  });

  it('advise first to restore heddle_schema when it is missing or empty beside the tables of Heddle', async () => {
    await using test = await testDatabase(engine);
    const { database } = test;
    const advice =
      /relation "accounts" already exists\. Nothing was changed\. If these are Heddle's own tables, heddle_schema was not restored with them: restore both from the same backup\. If they are tables of another program, give Heddle a database/;
    await database.asOwner(['alter table heddle_schema rename to lost']);
    await expect(migrate(database)).rejects.toThrow(advice);
    await database.asOwner(['alter table lost rename to heddle_schema', 'delete from heddle_schema']);
    await expect(migrate(database)).rejects.toThrow(advice);
  });

  it('fail with the error of the database when they are wrong themselves', async () => {
    await using test = await testDatabase(engine);
    // Creating an embedded database takes seconds, so this one gets an empty schema for as long as the test runs.
    await test.database.asOwner(['alter schema public rename to migrated', 'create schema public']);
    const broken = { ...next, statements: ['select from nowhere'] };
    await expect(migrate(test.database, { migrations: [broken] })).rejects.toMatchObject({ code: '42P01' });
    await test.database.asOwner(['drop schema public', 'alter schema migrated rename to public']);
  });

  it('of a newer program are accepted when they allow this program version', async () => {
    await using test = await testDatabase(engine);
    const newer = { ...table, oldestProgram: migrations.length };
    await migrate(test.database, { migrations: [...migrations, newer] });
    expect(await migrate(test.database)).toEqual([]);
    await undo(test.database, newer);
  });

  it('are refused on a Postgres that is too old, with its version and a fix', async () => {
    await using test = await testDatabase(engine);
    const broken = { ...next, statements: ['select from nowhere'] };
    const refusal = migrate(test.database, { migrations: [...migrations, broken], minPostgresVersion: 99 });
    await expect(refusal).rejects.toThrow(Unavailable);
    await expect(refusal).rejects.toThrow(
      /^The database server is Postgres 1\d, and Heddle needs 99 or newer; nothing was changed\. .* --database-url\.$/,
    );
  });

  it('of a newer program are refused when they exclude this program version', async () => {
    await using test = await testDatabase(engine);
    const newer = { ...table, oldestProgram: migrations.length + 1 };
    await migrate(test.database, { migrations: [...migrations, newer] });
    const refusal = migrate(test.database);
    await expect(refusal).rejects.toThrow(SchemaTooNew);
    await expect(refusal).rejects.toThrow(Internal);
    await expect(refusal).rejects.toThrow(
      `This database was migrated by a newer Heddle: its migration ${table.name} requires a program with schema ${migrations.length + 1} or newer, ` +
        `and this program has schema ${migrations.length} (${names.at(-1)}). Start the newer Heddle, or restore the backup made before the upgrade.`,
    );
    await undo(test.database, newer);
  });
});

describe('migrations that the database refuses', () => {
  const own = 'give Heddle a database of its own (`create database heddle owner ROLE`)';
  const grant = 'grant create on schema public to ROLE';
  it.each([
    [
      'a role that may not create tables',
      [],
      `nothing was changed. .*permission denied for schema public.*\`${grant}\``,
    ],
    [
      'a role that may not use the tables of another role',
      ['create table heddle_schema (migration text, oldest_program int, applied_at timestamptz)'],
      'permission denied for table heddle_schema.* make it the owner of the database',
    ],
    [
      'a table accounts of another program',
      ['create table accounts (id int)', 'grant create on schema public to public'],
      `relation "accounts" already exists.* Nothing was changed.* ${own}`,
    ],
    [
      'a table of another program that is created later',
      ['create table revisions (id int)', 'grant create on schema public to public'],
      `relation "revisions" already exists.* Nothing was changed.* ${own}`,
    ],
    [
      'a table of another program in place of the list of migrations',
      ['create table heddle_schema (id int)', 'grant select on heddle_schema to public'],
      `column "migration" does not exist.* Nothing was changed.* ${own}`,
    ],
    [
      'a database without a schema that the role may use',
      ['drop schema public'],
      'no schema has been selected to create in. Nothing was changed. The search_path .*`grant usage, create on schema public to ROLE`',
    ],
    [
      'a database that accepts no writes',
      ['grant create on schema public to public', 'alter role ROLE set default_transaction_read_only to on'],
      'nothing was changed. The database accepts no writes: .* Name the primary server in HEDDLE_DATABASE_URL',
    ],
  ])('report %s with the reason and what to do', async (_, statements, message) => {
    await using refusing = await refusingDatabase(statements);
    const refusal = migrate(refusing.database);
    await expect(refusal).rejects.toThrow(UnusableDatabase);
    const words = message.replace(/[()`]/g, '\\$&');
    await expect(refusal).rejects.toThrow(new RegExp(`^[A-Z].*${words}.*\\.$`));
  });

  it('are not tried by a role that may not connect to the database, which is reported with what to do', async () => {
    await using refusing = await refusingDatabase(['revoke connect on database NAME from public']);
    await expect(refusing.database.ping()).rejects.toThrow(UnusableDatabase);
    await expect(refusing.database.ping()).rejects.toThrow(
      /^The database cannot be reached: permission denied for database .*`grant connect on database NAME to ROLE`, or correct/,
    );
  });
});

/** Creates an empty database, runs these statements in it, and opens it with a role that owns nothing. */
async function refusingDatabase(statements: readonly string[]) {
  const url = await emptyDatabase();
  const name = new URL(url).pathname.slice(1);
  const role = `weak_${name}`;
  await onConnection(url, async (ask) => {
    await ask(`create role ${role} login password 'weak' createrole`);
    for (const statement of statements) await ask(statement.replace('NAME', name).replace('ROLE', role));
  });
  const as = new URL(url);
  [as.username, as.password] = [role, 'weak'];
  const database = await openDatabase({ url: as.href });
  return {
    database,
    async [Symbol.asyncDispose]() {
      await database.close();
      await onServer(url, `drop role ${role}`);
    },
  };
}

describe('migrations while other sessions hold locks', () => {
  const waits = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const change: Migration = {
    name: '9998_add_notes',
    oldestProgram: 1,
    statements: ['alter table objects add note text', 'alter table accounts add note text'],
  };
  const options = { migrations: [...migrations, change], lockSeconds: 1, pauseSeconds: 0.2 };

  /** Opens a session, begins a transaction and runs the statement in it. */
  async function sessionOf(url: string | undefined, sql: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, application_name: 'a report' });
    await client.connect();
    await client.query('begin');
    await client.query(sql);
    return client;
  }

  it('let others read, report which session they wait for, and are applied when it ends', async () => {
    await using test = await testDatabase('postgres');
    const reader = await sessionOf(test.url, 'select from objects');
    const { promise: said, resolve } = Promise.withResolvers<string>();
    const migrating = migrate(test.database, { ...options, onWaiting: resolve });
    await expect.poll(() => ask(test.database, waits)).toHaveLength(1);
    // The query waits behind the migration's lock request. If the migration did not pause, the query would wait until
    // the report ends.
    expect(await ask(test.database, 'select id from objects')).toEqual([]);
    // On a busy machine the query that waited behind the migration may still be reading. Its session is then named too.
    expect(await said).toMatch(
      /^migrating the database waits for (the session \d+ \(heddle, for \d+ s\), )?the session \d+ \(a report, for \d+ s\)(, the session \d+ \(heddle, for \d+ s\))?; nothing was changed yet/,
    );
    await reader.end();
    expect(await migrating).toEqual([change.name]);
  });

  it('give up naming the blocking session, and change nothing', async () => {
    await using test = await testDatabase('postgres');
    const reader = await sessionOf(test.url, 'select from accounts');
    await expect(migrate(test.database, { ...options, attempts: 2 })).rejects.toThrow(
      /waits for the session \d+ .* nothing was changed: end those sessions and start again$/,
    );
    await reader.end();
    expect(await migrate(test.database)).toEqual([]);
  });

  it('hold no lock that a writer needs while they wait for it', async () => {
    await using test = await testDatabase('postgres');
    await test.database.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"]);
    const writer = await sessionOf(test.url, 'update accounts set revision = 1');
    const migrating = migrate(test.database, options);
    await expect.poll(() => ask(test.database, waits)).toHaveLength(1);
    await writer.query("update objects set name = '' where false");
    await writer.query('commit');
    await writer.end();
    expect(await migrating).toEqual([change.name]);
  });
});

describe('migrations since the last release', () => {
  const released = migrations.filter(({ name }) => name < '0036');

  it('do not wait for writers of the logs, and do not block them', async () => {
    const url = await emptyDatabase();
    const database = await openDatabase({ url });
    await migrate(database, { migrations: released });
    const writers = await Promise.all(
      ['proxy_log', 'traffic_log'].map(async (log) => {
        const writer = new pg.Client({ connectionString: url });
        await writer.connect();
        await writer.query('begin');
        await writer.query(`lock table ${log} in row exclusive mode`);
        return writer;
      }),
    );
    const applied = await migrate(database, { lockSeconds: 1, attempts: 1 });
    expect(applied).toEqual(names.slice(released.length));
    for (const writer of writers) await writer.end();
    await database.close();
  });
});

eachEngine('the schema (%s)', (engine) => {
  it('has account_id as first column of every primary key, except in server-wide tables', async () => {
    await using test = await testDatabase(engine);
    const first = await ask(
      test.database,
      `select c.relname as table, (select attname from pg_attribute where attrelid = c.oid and attnum = i.indkey[0]) as first
       from pg_class c left join pg_index i on i.indrelid = c.oid and i.indisprimary
       where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace order by 1`,
    );
    expect(first.length).toBeGreaterThan(12);
    expect(first.filter((row) => row['first'] !== 'account_id')).toEqual([
      { table: 'heddle_schema', first: 'migration' },
      { table: 'idp_keys', first: 'id' },
      { table: 'idp_records', first: 'model' },
      { table: 'operator', first: 'one' },
      { table: 'sealing', first: 'one' },
    ]);
  });

  it('has row-level security with a policy on every table except the directory, feeds, logs and server-wide tables', async () => {
    await using test = await testDatabase(engine);
    const open = await ask(
      test.database,
      `select c.relname as table from pg_class c
       where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
         and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid and p.polwithcheck is not null)) order by 1`,
    );
    const feeds = ['feed_batches', 'feed_hours', 'feed_values'];
    expect(open.map((row) => row['table'])).toEqual([
      'directory',
      ...feeds,
      ...['heddle_schema', 'idp_keys', 'idp_records', 'operator'],
      ...['proxy_log', 'proxy_log_numbers', 'sealing', 'traffic_log', 'traffic_log_numbers'],
    ]);
  });

  it('has one index of objects that begins with account_id, as foreign-key checks require', async () => {
    await using test = await testDatabase(engine);
    const indexes = await ask(
      test.database,
      `select i.indexrelid::regclass::text as index from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
       where i.indrelid = 'objects'::regclass and a.attname = 'account_id'`,
    );
    expect(indexes).toEqual([{ index: 'objects_pkey' }]);
  });

  it('grants heddle_app access to rows only', async () => {
    await using test = await testDatabase(engine);
    const granted = await ask(
      test.database,
      `select distinct string_agg(privilege_type, ' ' order by privilege_type) as privileges
       from information_schema.role_table_grants where grantee = 'heddle_app' group by table_name`,
    );
    // The form of sealed secrets is read with every account, and only the server changes it.
    expect(granted).toEqual([{ privileges: 'DELETE INSERT SELECT UPDATE' }, { privileges: 'SELECT' }]);
  });
});

eachEngine('the migrations that record hosts of Git sources (%s)', (engine) => {
  it('record the hosts of sources made through the API, for every account', async () => {
    await using test = await testDatabase(engine);
    // Restores the schema from before these migrations.
    await test.database.asOwner([
      'drop table former_git_hosts, credential_hosts',
      "delete from heddle_schema where migration in ('0026_note_git_hosts', '0029_bind_credentials')",
    ]);
    const urls = [
      ...['https://git.internal/x.git', 'https://Git.Internal:8443/y.git', 'ssh://git@[fd00::1]:2222/x.git'],
      ...['git@git.lan:x.git', 'ssh://git.dot./x.git', 'file:///srv/x.git'],
    ];
    const row = (account: string, id: string, url: string, managedBy: string) =>
      `insert into sources (account_id, id, type, spec, created_at) values ('${account}', '${id}', 'git', '${JSON.stringify({ url, managedBy, credentials: { username: 'ana', passwordFile: 'token' } })}', now())`;
    await test.database.asOwner([
      ...['a', 'b'].map((id) => `insert into accounts (account_id, created_at) values ('${id}', now())`),
      ...urls.map((url, at) => row('a', `s${at}`, url, 'api')),
      row('b', 'other', 'https://b.internal/x.git', 'api'),
      row('b', 'own', 'https://server.internal/x.git', 'server'),
    ]);
    await migrate(test.database);
    expect(await listFormerGitHosts(test.database, 'a')).toEqual(['fd00::1', 'git.dot', 'git.internal', 'git.lan']);
    expect(await listFormerGitHosts(test.database, 'b')).toEqual(['b.internal']);
    expect(await findCredentialHosts(test.database, 'b', 'token')).toEqual(['b.internal']);
    expect(await findCredentialHosts(test.database, 'a', 'token')).toEqual([
      'fd00::1',
      'git.dot',
      'git.internal',
      'git.lan',
    ]);
    expect(await findCredentialHosts(test.database, 'a', 'ana')).toEqual([]);
  });
});
