import { build } from '../builder.ts';
import type { Database } from '../database.ts';

/** The newest audit events, newest first; `before` pages back by their numbers. */
export async function listAuditEvents(
  database: Database,
  account: string,
  options: { readonly before?: number; readonly limit: number },
) {
  const query = build
    .selectFrom('audit_events')
    .select([
      'id',
      'created_at',
      'activity_code',
      'initiator_id',
      'initiator_name',
      'initiator_email',
      'target_id',
      'meta',
      'http_request',
    ])
    .where('account_id', '=', account)
    .orderBy('id', 'desc')
    .limit(options.limit);
  const [rows] = await database.inAccount(account, [
    (options.before === undefined ? query : query.where('id', '<', options.before)).compile(),
  ]);
  return rows;
}
