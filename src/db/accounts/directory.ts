import { queryBuilder, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Returns the account that has a directory entry with this kind and value, or `undefined` when no account has one. */
export async function findEntry(database: Database, kind: string, value: string): Promise<string | undefined> {
  const [row] = await database.lookUp(
    queryBuilder
      .selectFrom('directory')
      .select('account_id')
      .where('kind', '=', kind)
      .where('value', '=', value)
      .compile(),
  );
  return row?.account_id;
}

/** Kind of the directory entries of objects that have overrides. */
export const overrideEntryKind = 'override';

/**
 * Returns up to `limit` accounts, ordered by id and after `after`, that have an entry of one of these kinds. Reads only
 * one entry per account, however many the account has.
 */
export async function findAccountsWithEntries(
  database: Database,
  kinds: readonly string[],
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await database.lookUp(
    statement<{ readonly account_id: string }>(accountsText, [kinds, after, String(limit)]),
  );
  return rows.map(({ account_id }) => account_id);
}

const accountsText = `select a.account_id from accounts a where a.account_id > $2
and exists (select from directory d where d.account_id = a.account_id and d.kind = any($1::text[]))
order by a.account_id limit $3::text::bigint`;
