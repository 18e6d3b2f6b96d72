import { statement } from './builder.ts';
import type { Database } from './database.ts';

/** What the directory says about a value: the account and the object in it. */
export interface FoundEntry {
  readonly account: string;
  readonly subject: string;
}

/** Finds many values of one kind of entry at once. */
export async function findEntries(
  database: Database,
  kind: string,
  values: readonly string[],
): Promise<ReadonlyMap<string, FoundEntry>> {
  const rows = await database.lookUp(
    statement<FoundEntry & { readonly value: string }>(
      'select value, account_id as account, subject_id as subject from directory where kind = $1 and value = any($2)',
      [kind, [...new Set(values)]],
    ),
  );
  return new Map(rows.map(({ value, account, subject }) => [value, { account, subject }]));
}
