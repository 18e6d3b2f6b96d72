import pg from 'pg';
import type { Database } from '../../src/db/database.ts';
import type { Ask } from './sql.ts';

/** Runs statements on a test's database as its owner, beside whatever the test has open. */
export type Asking = <Value>(work: (ask: Ask) => Promise<Value>) => Promise<Value>;

/** What a test leaves may be this large, in bytes, for the next one to begin with it: planners look at the size of tables. */
const largest = 1_500_000;

/** Tables that rows were ever written to: the others have not even a page. */
const tablesText = `select c.oid, quote_ident(relname) as name from pg_class c
where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'heddle_schema' and pg_relation_size(oid) > 0`;

/**
 * What may differ although every row is gone: tables, columns, constraints, functions, triggers, policies, settings, the
 * migrations that ran; and the size.
 */
const shapeText = `with relation as (select * from pg_class where relnamespace = 'public'::regnamespace)
select (select sum(pg_relation_size(oid)) from relation where relkind = 'r')::float8 as size,
  (select string_agg(concat_ws(' ', oid, relname, relkind, relowner, reloptions, relacl, relrowsecurity, relforcerowsecurity), ';' order by oid) from relation) as relations,
  (select string_agg(concat_ws(' ', attrelid, attnum, attname, atttypid, attnotnull, atthasdef, attisdropped), ';' order by attrelid, attnum)
    from pg_attribute where attnum > 0 and attrelid in (select oid from relation)) as columns,
  (select string_agg(concat_ws(' ', oid, conname, convalidated), ';' order by oid) from pg_constraint) as constraints,
  (select string_agg(concat_ws(' ', oid, tgname, tgenabled), ';' order by oid) from pg_trigger) as triggers,
  (select string_agg(concat_ws(' ', oid, polname), ';' order by oid) from pg_policy) as policies,
  (select string_agg(concat_ws(' ', oid, proname), ';' order by oid) from pg_proc where pronamespace = 'public'::regnamespace) as functions,
  (select string_agg(s::text, ';') from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase and d.datname = current_database()) as settings,
  (select string_agg(s::text, ';' order by s::text) from heddle_schema s) as migrations`;

/** The shape of a database that no test has had yet. */
export async function shapeOf(ask: Ask): Promise<string> {
  return (await readShape(ask)).shape;
}

/** Takes every row away; answers whether the database is then as good as new. */
export async function empty(ask: Ask, shape: string): Promise<boolean> {
  const now = await readShape(ask);
  if (!now.small || now.shape !== shape) return false;
  const tables = await ask(tablesText);
  if (tables.length === 0) return true;
  // One statement: foreign keys are looked at when it ends.
  await ask(`with ${tables.map(({ oid, name }) => `t${oid} as (delete from ${name})`).join(', ')} select`);
  return true;
}

async function readShape(ask: Ask): Promise<{ readonly small: boolean; readonly shape: string }> {
  const [{ size, ...shape } = {}] = await ask(shapeText);
  return { small: Number(size) <= largest, shape: JSON.stringify(shape) };
}

/**
 * Asks a Postgres by a connection that stays open: for a new one Postgres forks a process, which reads the catalogs again
 * that every question here is about. A test that ends all sessions of its database ends this one too; it is opened anew.
 */
export function askingServer(url: string): Asking {
  let open: pg.Client | undefined;
  const connection = async (): Promise<pg.Client> => {
    if (open !== undefined) return open;
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    client.once('end', () => {
      if (open === client) open = undefined;
    });
    await client.connect();
    open = client;
    return client;
  };
  return async (work) => {
    const client = await connection();
    return work(async (statement) => (await client.query(statement)).rows);
  };
}

/** Asks an open database. */
export function askingOpen(database: Database): Asking {
  return (work) =>
    work(async (statement) => {
      let rows: Awaited<ReturnType<Ask>> = [];
      await database.asOwner(async (run) => {
        rows = await run(statement);
      });
      return rows;
    });
}

/** Waits until nobody else is connected: a session that stays is a leaked pool, every other ends in a moment. */
export async function mustBeAlone(ask: Ask): Promise<void> {
  const sessions = 'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const until = performance.now() + 5000;
  while ((await ask(sessions)).length > 0)
    if (performance.now() > until) throw new Error('a test left connections to its database open: close its pools');
}

/** A database that stays open when its user closes it. */
export function keptOpen(database: Database): Database {
  return {
    engine: database.engine,
    inAccount: (account, statements, options) => database.inAccount(account, statements, options),
    withAccountLock: (account, work, by) => database.withAccountLock(account, work, by),
    lookUp: (statement) => database.lookUp(statement),
    asOwner: (work, options) => database.asOwner(work, options),
    countWrittenRows: (rows) => database.countWrittenRows(rows),
    ping: () => database.ping(),
    close: () => database.ping(),
  };
}
