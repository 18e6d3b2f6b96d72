import { build } from './builder.ts';
import type { Database } from './database.ts';

/** The account of a server that has one, or `undefined` before the first start. */
export async function findAccount(
  database: Database,
): Promise<{ readonly account: string; readonly revision: number } | undefined> {
  const [row] = await database.lookUp(
    build.selectFrom('accounts').select(['account_id', 'revision']).orderBy('created_at').limit(1).compile(),
  );
  return row === undefined ? undefined : { account: row.account_id, revision: row.revision };
}

/** The revision of an account, `undefined` when there is none. */
export async function findRevision(database: Database, account: string): Promise<number | undefined> {
  const [row] = await database.lookUp(
    build.selectFrom('accounts').select('revision').where('account_id', '=', account).compile(),
  );
  return row?.revision;
}

/** Creates the head row of an account unless the server has one already; answers the account that there is now. */
export async function createFirstAccount(database: Database, id: string, at: string): Promise<string> {
  let account = id;
  await database.asOwner(async (run) => {
    // Two servers may start on an empty database at once: the second one waits here and finds the account of the first.
    await run('select pg_advisory_xact_lock(1212498020, 2)');
    const [present] = await run('select account_id from accounts order by created_at limit 1');
    if (present !== undefined) account = String(present['account_id']);
    else await run('insert into accounts (account_id, created_at) values ($1, $2)', [id, at]);
  });
  return account;
}
