import { type AuditEntry, auditParameters, headAfter, insertAuditText } from '../audit-entry.ts';
import { statement } from '../builder.ts';
import type { AccountAccess } from '../database.ts';

/**
 * Writes the audit event that a peer is offline, or is online again, once. Returns `false` when the event was written
 * before.
 */
export async function reportOffline(
  database: AccountAccess,
  account: string,
  { peer, offline, ...entry }: AuditEntry & { readonly peer: string; readonly offline: boolean },
): Promise<boolean> {
  const parameters = [...auditParameters(account, entry), peer, offline];
  const [rows] = await database.inAccount(account, [statement(reportText, parameters)], { write: true });
  return rows.length > 0;
}

const reportText = `with reported as (
  update peer_status set offline_reported = $10, written = pg_current_xact_id()
  where account_id = $1 and peer_id = $9 and offline_reported is distinct from $10 returning 1
), ${headAfter('reported')} ${insertAuditText} returning 1`;
