import type { Run } from '../database.ts';

/** Tables with rows of accounts, those that refer to others first. */
const tablesText = `select c.relname as name from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'account_id'
where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname <> 'accounts'
order by case when c.relname in ('object_refs', 'sync_logs') then 0 else 1 end, 1`;

/** Deletes the rows of an account in every table but its head row and the tables that are spared. */
export async function deleteRows(run: Run, account: string, spared: readonly string[] = []): Promise<void> {
  for (const { name } of await run(tablesText)) {
    if (!spared.includes(String(name))) await run(`delete from ${String(name)} where account_id = $1`, [account]);
  }
}

/** Deletes an account with everything that is its own; returns false when there is none at this revision. */
export async function deleteAccountRows(run: Run, account: string, revision: number): Promise<boolean> {
  // What follows is not of one account: the rows of a head row that is gone have to go too.
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
