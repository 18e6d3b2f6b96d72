import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** What the directory says about a value: the account and the object in it, with the account's revision at this moment. */
export interface FoundEntry {
  readonly account: string;
  readonly subject: string;
  readonly revision: number;
}

/** Finds many values of one kind of entry at once. */
export async function findEntries(
  database: Database,
  kind: string,
  values: readonly string[],
): Promise<ReadonlyMap<string, FoundEntry>> {
  const rows = await database.lookUp(
    statement<FoundEntry & { readonly value: string }>(
      `select d.value, d.account_id as account, d.subject_id as subject, a.revision
      from directory d join accounts a on a.account_id = d.account_id where d.kind = $1 and d.value = any($2)`,
      [kind, [...new Set(values)]],
    ),
  );
  return new Map(rows.map(({ value, ...found }) => [value, found]));
}
