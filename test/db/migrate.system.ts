import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CompiledQuery } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import { programFile } from '../setup/bundle.ts';
import { copyEmbedded, emptyDatabase, temporaryDirectory, testDatabase } from '../setup/database.ts';
import { startPostgres } from '../setup/server.ts';
import { serverProcess } from '../setup/server-process.ts';
import { onServer } from '../setup/sql.ts';

const ask = (database: Database, sql: string) =>
  database.lookUp(CompiledQuery.raw(sql) as CompiledQuery<Record<string, unknown>>);
const names = migrations.map((migration) => migration.name);
const next: Migration = {
  name: '9998_add_note',
  oldestProgram: 1,
  statements: ["alter table accounts add note text not null default 'none'"],
};

describe('an upgrade killed in the middle', () => {
  const unfinished: Migration = {
    ...next,
    // Only with this setting does Postgres check, while a statement runs, whether its client is still connected.
    statements: ['set local client_connection_check_interval = 100', ...next.statements, 'select pg_sleep(600)'],
  };
  const program = `
    import { openDatabase } from '${programFile('src/db/database.ts')}';
    import { migrate } from '${programFile('src/db/migrate.ts')}';
    const [url, migrations] = process.argv.slice(1);
    await migrate(await openDatabase({ url }), { migrations: JSON.parse(migrations) });`;

  it('changes nothing: the previous program keeps working, and the next attempt applies the whole migration', async () => {
    await using test = await testDatabase('postgres');
    const { execArgv, env } = serverProcess();
    const child = spawn(
      process.execPath,
      [...execArgv, '--input-type=module', '-e', program, test.url ?? '', JSON.stringify([...migrations, unfinished])],
      { env, stdio: 'inherit' },
    );
    const sleeping =
      "select from pg_stat_activity where datname = current_database() and query = 'select pg_sleep(600)'";
    await expect.poll(() => ask(test.database, sleeping)).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await migrate(test.database)).toEqual([]);
    await expect(ask(test.database, 'select note from accounts')).rejects.toMatchObject({ code: '42703' });
    expect(await migrate(test.database, { migrations: [...migrations, next] })).toEqual([next.name]);
  });
});

describe('an upgrade of the embedded database killed in the middle', () => {
  // The embedded database runs in the process and has no other sessions, so only the kill ends the last statement.
  const program = `
    import { writeSync } from 'node:fs';
    import { openDatabase } from '${programFile('src/db/database.ts')}';
    import { migrate } from '${programFile('src/db/migrate.ts')}';
    const [dataDir, known, last] = process.argv.slice(1);
    const migration = JSON.parse(last);
    // The getter is read when the statements before it are done.
    Object.defineProperty(migration.statements, migration.statements.length, {
      get() {
        writeSync(1, 'half');
        return 'do $$ begin loop end loop; end $$';
      },
    });
    const migrations = [...JSON.parse(known), migration];
    await migrate(await openDatabase({ dataDir }), { migrations });`;

  it('changes nothing: the previous program keeps working, and the next attempt applies the whole migration', async () => {
    const dataDir = await temporaryDirectory();
    await copyEmbedded(dataDir);
    const { execArgv, env } = serverProcess();
    const words = [dataDir, JSON.stringify(migrations), JSON.stringify(next)];
    const child = spawn(process.execPath, [...execArgv, '--input-type=module', '-e', program, ...words], {
      ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
    });
    const ended = once(child, 'exit').then(() => expect.fail('the upgrade was finished'));
    const [said] = await Promise.race([once(child.stdout, 'data'), ended]);
    expect(String(said)).toBe('half');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const former = await openDatabase({ dataDir });
    expect(await migrate(former)).toEqual([]);
    await expect(ask(former, 'select note from accounts')).rejects.toMatchObject({ code: '42703' });
    await former.close();
    const newer = await openDatabase({ dataDir });
    expect(await migrate(newer, { migrations: [...migrations, next] })).toEqual([next.name]);
    expect(await ask(newer, 'select note from accounts')).toEqual([]);
    await newer.close();
  });
});

describe('twenty concurrent processes', () => {
  // Connects, prints `ready`, and migrates on a signal, so that all processes migrate at the same moment.
  const program = `
    import { once } from 'node:events';
    import { openDatabase } from '${programFile('src/db/database.ts')}';
    import { migrate } from '${programFile('src/db/migrate.ts')}';
    const database = await openDatabase({ url: process.argv[1] });
    await database.ping();
    console.log('ready');
    await once(process.stdin, 'data');
    const applied = await migrate(database);
    await database.close();
    console.log(JSON.stringify(applied));
    process.exit();`;

  function start(url: string) {
    const { execArgv, env } = serverProcess();
    const child = spawn(process.execPath, [...execArgv, '--input-type=module', '-e', program, url], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    return { line: async () => (await lines.next()).value, go: () => child.stdin.write('go\n') };
  }

  it('migrate one database: one applies the migrations, all succeed', async () => {
    const url = await emptyDatabase();
    const processes = Array.from({ length: 20 }, () => start(url));
    for (const process of processes) expect(await process.line()).toBe('ready');
    for (const process of processes) process.go();
    const applied = await Promise.all(processes.map(async (process) => JSON.parse(String(await process.line()))));
    expect(applied.toSorted((a, b) => b.length - a.length)).toEqual([names, ...Array.from({ length: 19 }, () => [])]);
  });

  it('migrate twenty databases of one new server, which all create the same role', async () => {
    await using server = await startPostgres();
    const urls = Array.from({ length: 20 }, (_, n) => server.url(`t_${n}`));
    for (let n = 0; n < 20; n += 1) await onServer(server.url(), `create database t_${n}`);
    const databases = await Promise.all(urls.map((url) => openDatabase({ url, poolSize: 1 })));
    await Promise.all(databases.map((database) => database.ping()));
    const applied = await Promise.all(databases.map((database) => migrate(database)));
    expect(applied).toEqual(urls.map(() => names));
    await Promise.all(databases.map((database) => database.close()));
  });
});

describe('a login that is not a superuser', () => {
  it('migrates the database that it owns, and row-level security separates accounts', async () => {
    await using server = await startPostgres();
    await onServer(server.url(), 'create role plain login createrole');
    await onServer(server.url(), 'create database plain owner plain');
    const url = server.url('plain').replace('//postgres@', '//plain@');
    const database = await openDatabase({ url });
    expect(await migrate(database)).toEqual(names);
    await database.asOwner(["insert into accounts (account_id, created_at) values ('a', now())"]);
    const all = CompiledQuery.raw('select account_id from accounts') as CompiledQuery<Record<string, unknown>>;
    expect(await database.inAccount('a', [all])).toEqual([[{ account_id: 'a' }]]);
    expect(await database.inAccount('b', [all])).toEqual([[]]);
    await database.close();
  });
});
