import { queryBuilder } from '../builder.ts';
import type { Database } from '../database.ts';

/**
 * Returns the newest audit events, newest first, and the number up to which older events were deleted. `before`, the
 * number of an event, selects the next page.
 */
export async function listAuditEvents(
  database: Database,
  account: string,
  options: { readonly before?: number; readonly limit: number },
) {
  const query = queryBuilder
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
  const [rows, [base]] = await database.inAccount(account, [
    (options.before === undefined ? query : query.where('id', '<', options.before)).compile(),
    queryBuilder.selectFrom('audit_base').select('event_id').where('account_id', '=', account).compile(),
  ]);
  return { rows, deletedTo: base?.event_id ?? 0 };
}
