import { build } from './builder.ts';
import type { Database } from './database.ts';

/** The account that has an entry in the directory, `undefined` when none has. */
export async function findEntry(database: Database, kind: string, value: string): Promise<string | undefined> {
  const [row] = await database.lookUp(
    build.selectFrom('directory').select('account_id').where('kind', '=', kind).where('value', '=', value).compile(),
  );
  return row?.account_id;
}
