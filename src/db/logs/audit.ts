import { build } from '../builder.ts';
import type { Database } from '../database.ts';

/** The newest audit events, newest first, and up to which number they were deleted; `before` pages back by their numbers. */
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
  const [rows, [base]] = await database.inAccount(account, [
    (options.before === undefined ? query : query.where('id', '<', options.before)).compile(),
    build.selectFrom('audit_base').select('event_id').where('account_id', '=', account).compile(),
  ]);
  return { rows, deletedTo: base?.event_id ?? 0 };
}
