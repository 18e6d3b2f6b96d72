import { statement } from './builder.ts';
import type { AccountAccess } from './database.ts';

/** The database's time (ISO 8601, UTC): the one clock that all servers share. */
export async function databaseTime(database: AccountAccess, account: string): Promise<string> {
  const [[row]] = await database.inAccount(account, [
    statement<{ readonly now: Date }>('select clock_timestamp() as now', []),
  ]);
  if (row === undefined) throw new Error('the database did not say what time it is');
  return row.now.toISOString();
}
