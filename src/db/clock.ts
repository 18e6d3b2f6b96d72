import { statement } from './builder.ts';
import type { AccountAccess } from './database.ts';

/** Returns the time of the database (ISO 8601, UTC), the only clock that all servers share. */
export async function databaseTime(database: AccountAccess, account: string): Promise<string> {
  const [[row]] = await database.inAccount(account, [
    statement<{ readonly now: Date }>('select clock_timestamp() as now', []),
  ]);
  if (row === undefined) throw new Error('the database did not return its time');
  return row.now.toISOString();
}
