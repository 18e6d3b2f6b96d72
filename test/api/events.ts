import { queryBuilder } from '../../src/db/builder.ts';
import type { TestApi } from './setup.ts';

/** Returns the audit events of an account, oldest first, as `code {meta}`. */
export async function eventsOf({ engine, account }: TestApi): Promise<readonly string[]> {
  const query = queryBuilder.selectFrom('audit_events').selectAll().where('account_id', '=', account).orderBy('id');
  const [rows] = await engine.database.inAccount(account, [query.compile()]);
  return rows.map(({ activity_code, meta }) => `${activity_code} ${JSON.stringify(meta)}`);
}
