import { statement } from '../builder.ts';
import type { Database } from '../database.ts';

/** Current file and line of a source's document. */
export interface MovedDeclaration {
  readonly object: string;
  readonly file: string;
  readonly line: number;
}

const text = `update declared d set file = x.file, line = x.line
from json_to_recordset($3::json) as x(object text, file text, line int)
where d.account_id = $1 and d.source_id = $2 and d.object_id = x.object`;

/** Writes new positions of documents. The account does not change, so no revision is made. */
export async function movePositions(
  database: Database,
  account: string,
  source: string,
  moved: readonly MovedDeclaration[],
): Promise<void> {
  if (moved.length === 0) return;
  await database.inAccount(account, [statement(text, [account, source, JSON.stringify(moved)])]);
}
