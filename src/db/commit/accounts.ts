import { queryBuilder, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Returns the current revision of an account, or `undefined` when the account does not exist. */
export async function findRevision(database: Database, account: string): Promise<number | undefined> {
  const [row] = await database.lookUp(
    queryBuilder.selectFrom('accounts').select('revision').where('account_id', '=', account).compile(),
  );
  return row?.revision;
}

/** Returns the number of accounts on the server. */
export async function countAccounts(database: Database): Promise<number> {
  const [row] = await database.lookUp(
    statement<{ readonly count: number }>('select count(*)::int as count from accounts', []),
  );
  return row?.count ?? 0;
}
