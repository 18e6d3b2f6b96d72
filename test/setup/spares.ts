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

const rowsAndNewest = "concat_ws(' ', count(*), max(xmin::text::bigint))";

/**
 * Selects the size, and what changes when the tables, columns, constraints, functions, triggers, policies or settings
 * change, although all rows are deleted: the number of their rows in the catalogs and the newest transaction that wrote
 * one. Also the applied migrations.
 */
const shapeText = `with relation as (select oid, relkind, xmin from pg_class where relnamespace = 'public'::regnamespace)
select (select sum(pg_relation_size(oid)) from relation where relkind = 'r')::float8 as size,
  (select ${rowsAndNewest} from relation) as relations,
  (select ${rowsAndNewest} from pg_attribute where attrelid in (select oid from relation)) as columns,
  (select ${rowsAndNewest} from pg_constraint) as constraints,
  (select ${rowsAndNewest} from pg_trigger) as triggers,
  (select ${rowsAndNewest} from pg_policy) as policies,
  (select ${rowsAndNewest} from pg_proc where pronamespace = 'public'::regnamespace) as functions,
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
 * Waits until no session is connected except those of the database's own pool, and none of these is busy. Other
 * sessions that stay belong to a leaked pool; all others end in a moment. Throws after 5 seconds.
 */
export async function mustBeAlone(ask: Ask, database: Database): Promise<void> {
  const sessions = 'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  const until = performance.now() + 5000;
  for (;;) {
    const others = (await ask(sessions)).length;
    const { busy = 0, idle = 0 } = database.pool?.() ?? {};
    if (busy === 0 && others <= idle) return;
    if (performance.now() > until) throw new Error('a test left connections to its database open: close its pools');
  }
}

/** Returns whether the database answers, and its disk is not reported to be full. */
export function isUsable(database: Database): Promise<boolean> {
  return database.ping().then(
    () => true,
    () => false,
  );
}

/** Returns the database in a form that stays open when its user closes it. */
export function keptOpen(database: Database): Database {
  const pool = database.pool?.bind(database);
  return {
    engine: database.engine,
    inAccount: (account, statements, options) => database.inAccount(account, statements, options),
    withAccountLock: (account, work, by) => database.withAccountLock(account, work, by),
    lookUp: (statement) => database.lookUp(statement),
    asOwner: (work, options) => database.asOwner(work, options),
    countWrittenRows: (rows) => database.countWrittenRows(rows),
    ...(pool === undefined ? {} : { pool }),
    ping: () => database.ping(),
    // Waits for running work of the embedded database, which has only one connection.
    close: () => (database.engine === 'embedded' ? database.ping() : Promise.resolve()),
  };
}
