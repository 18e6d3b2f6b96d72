import pg from 'pg';

/** Runs one statement and returns its rows. */
export type Ask = (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Runs one statement outside any transaction on a separate connection, as `create database` requires. */
export function onServer(url: string, statement: string): ReturnType<Ask> {
  return onConnection(url, (ask) => ask(statement));
}

/**
 * Runs statements one by one on one connection. Postgres forks a process for each connection, which costs more than
 * most statements.
 */
export async function onConnection<Value>(url: string, work: (ask: Ask) => Promise<Value>): Promise<Value> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(async (statement) => (await client.query(statement)).rows);
  } finally {
    await client.end();
  }
}

/** Returns the URL of another database on the same server. */
export function databaseUrl(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** Returns the prefix of the names of a run's databases. */
export function databasePrefix(template: string): string {
  return template.replace(/^heddle_template_/, 't_').concat('_');
}

/** Marks a database to be kept after the run, because a test that used it failed. */
export async function markKept(server: string, url: string): Promise<void> {
  await onServer(
    server,
    `comment on database ${new URL(url).pathname.slice(1)} is 'kept: the test that used it failed'`,
  );
}

/** Drops the databases of a run, except those that `markKept` marked. */
export async function dropOthers(server: string, template: string): Promise<void> {
  const prefix = databasePrefix(template).replaceAll('_', '\\_');
  const names = await onServer(
    server,
    `select datname from pg_database where datname like '${prefix}%' and shobj_description(oid, 'pg_database') is null`,
  );
  for (const { datname } of names) await onServer(server, `drop database if exists ${datname} with (force)`);
}
