import pg from 'pg';

/** Runs one statement and returns its rows. */
export type Ask = (statement: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Runs one statement outside any transaction on a connection of its own, as `create database` wants. */
export function onServer(url: string, statement: string): ReturnType<Ask> {
  return onConnection(url, (ask) => ask(statement));
}

/** Runs statements one by one on one connection: Postgres forks a process for each, which costs more than most statements. */
export async function onConnection<Value>(url: string, work: (ask: Ask) => Promise<Value>): Promise<Value> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(async (statement) => (await client.query(statement)).rows);
  } finally {
    await client.end();
  }
}

/** The URL of another database of the same server. */
export function databaseUrl(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

/** What the names of the databases of a run begin with. */
export function databasePrefix(template: string): string {
  return template.replace(/^heddle_template_/, 't_').concat('_');
}

/** Says of a database that it is to stay when the run is over. */
export async function markKept(server: string, url: string): Promise<void> {
  await onServer(
    server,
    `comment on database ${new URL(url).pathname.slice(1)} is 'kept: the test that used it failed'`,
  );
}

/** Drops the databases of a run that nobody wants to look at. */
export async function dropOthers(server: string, template: string): Promise<void> {
  const prefix = databasePrefix(template).replaceAll('_', '\\_');
  const names = await onServer(
    server,
    `select datname from pg_database where datname like '${prefix}%' and shobj_description(oid, 'pg_database') is null`,
  );
  for (const { datname } of names) await onServer(server, `drop database if exists ${datname} with (force)`);
}
