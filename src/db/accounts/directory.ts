import { build, statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** The account that has an entry in the directory, `undefined` when none has. */
export async function findEntry(database: Database, kind: string, value: string): Promise<string | undefined> {
  const [row] = await database.lookUp(
    build.selectFrom('directory').select('account_id').where('kind', '=', kind).where('value', '=', value).compile(),
  );
  return row?.account_id;
}

/** The kind of entries for objects with overrides. */
export const overrideEntry = 'override';

/** The accounts with entries of one of these kinds, in order, behind `after`. However many entries one has, one is looked at. */
export async function accountsWith(
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
