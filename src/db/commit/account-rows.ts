import type { RunSql } from '../database.ts';

/** Tables with rows of accounts. Tables that refer to others come first. */
const tablesText = `select c.relname as name from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> 'accounts'
order by case when c.relname in ('object_refs', 'sync_logs') then 0 else 1 end, 1`;

/** Deletes the rows of an account from every table, except its head row and the tables in `spared`. */
export async function deleteRows(run: RunSql, account: string, spared: readonly string[] = []): Promise<void> {
  for (const { name } of await run(tablesText)) {
    if (!spared.includes(String(name))) await run(`delete from ${String(name)} where account_id = $1`, [account]);
  }
}

/** Deletes an account with all its rows. Returns false when there is no account at this revision. */
export async function deleteAccountRows(run: RunSql, account: string, revision: number): Promise<boolean> {
  // Earlier steps of the transaction may have restricted it to the rows of another account. The owner's role can delete
  // the rows of this one.
  await run(`select set_config('role', 'none', true), set_config('enable_seqscan', 'off', true)`);
  const found = await run('select from accounts where account_id = $1 and revision = $2 for update', [
    account,
    revision,
  ]);
  if (found.length === 0) return false;
  await deleteRows(run, account);
  await run('delete from accounts where account_id = $1', [account]);
  return true;
}
