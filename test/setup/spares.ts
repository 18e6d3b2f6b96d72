import pg from 'pg';
import type { Database } from '../../src/db/database.ts';
import type { Ask } from './sql.ts';

/** Runs statements on a test's database as its owner, separately from the connections that the test has open. */
export type Asking = <Value>(work: (ask: Ask) => Promise<Value>) => Promise<Value>;

/**
 * Maximum size of the tables after a test, in bytes, for the next test to reuse the database: the planner considers
 * table sizes.
 */
const largest = 1_500_000;

/** Selects the tables that rows were ever written to. All other tables have no pages. */
const tablesText = `select c.oid, quote_ident(relname) as name from pg_class c
where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'heddle_schema' and pg_relation_size(oid) > 0`;

/**
 * Selects the properties that may differ although all rows are deleted: tables, columns, constraints, functions,
 * triggers, policies, settings and applied migrations; and the size.
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

/** Returns the shape of a database. Called before the first test uses it. */
export async function shapeOf(ask: Ask): Promise<string> {
  return (await readShape(ask)).shape;
}

/**
 * Deletes all rows and returns whether the database is then as good as new. Returns `false`, and deletes nothing, when
 * its shape has changed or it has grown too large.
 */
export async function empty(ask: Ask, shape: string): Promise<boolean> {
  const now = await readShape(ask);
  if (!now.small || now.shape !== shape) return false;
  const tables = await ask(tablesText);
  if (tables.length === 0) return true;
  // A single statement, because foreign keys are checked when it ends.
  await ask(`with ${tables.map(({ oid, name }) => `t${oid} as (delete from ${name})`).join(', ')} select`);
  return true;
}

async function readShape(ask: Ask): Promise<{ readonly small: boolean; readonly shape: string }> {
  const [{ size, ...shape } = {}] = await ask(shapeText);
  return { small: Number(size) <= largest, shape: JSON.stringify(shape) };
}

/**
 * Runs statements on a Postgres over one connection that stays open. For each new connection Postgres forks a process,
 * which reads the catalogs again that all these statements query. A test that ends all sessions of its database also
 * ends this connection; it is then opened again.
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

/** Runs statements on a database that is open already. */
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

/**
 * Waits until no other session is connected. A session that stays belongs to a leaked pool; all others end in a moment.
 * Throws after 5 seconds.
 */
export async function mustBeAlone(ask: Ask): Promise<void> {
  const sessions = 'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const until = performance.now() + 5000;
  while ((await ask(sessions)).length > 0)
    if (performance.now() > until) throw new Error('a test left connections to its database open: close its pools');
}

/** Returns the database in a form that stays open when its user closes it. */
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
