import { build, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** The revision of an account, `undefined` when there is none. */
export async function findRevision(database: Database, account: string): Promise<number | undefined> {
  const [row] = await database.lookUp(
    build.selectFrom('accounts').select('revision').where('account_id', '=', account).compile(),
  );
  return row?.revision;
}

/** How many accounts the server has. */
export async function countAccounts(database: Database): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>('select count(*)::int as count from accounts', []),
  );
  return row?.count ?? 0;
}
