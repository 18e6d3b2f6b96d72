import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Directory entry of a value: its account, its object in that account, and the account's current revision. */
export interface FoundEntry {
  readonly account: string;
  readonly subject: string;
  readonly revision: number;
}

/** Looks up many values of one entry kind in one query. Returns the entries by value. */
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
