import { build } from './builder.ts';
import type { Database } from './database.ts';

/** The account that has an entry in the directory, `undefined` when none has. */
export async function findEntry(database: Database, kind: string, value: string): Promise<string | undefined> {
  const [row] = await database.lookUp(
    build.selectFrom('directory').select('account_id').where('kind', '=', kind).where('value', '=', value).compile(),
  );
  return row?.account_id;
}

/** The kind of entries for objects of which somebody holds units for a while. */
export const overrideEntry = 'override';

/** The accounts with entries of a kind, in order, behind `after`. */
export async function accountsWith(
  database: Database,
  kind: string,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await database.lookUp(
    build
      .selectFrom('directory')
      .select('account_id')
      .distinct()
      .where('kind', '=', kind)
      .where('account_id', '>', after)
      .orderBy('account_id')
      .limit(limit)
      .compile(),
  );
  return rows.map(({ account_id }) => account_id);
}
