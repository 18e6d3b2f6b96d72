import type { Actor } from '../model/declare/actor.ts';
import type { AuditEvent } from '../model/declare/kind.ts';

/** An audit event of something that makes no revision: written in the same transaction as what was done. */
export interface AuditEntry {
  readonly actor: Actor;
  readonly event: AuditEvent;
  /** ISO 8601. */
  readonly at: string;
}

/** The clause that numbers one audit event of the account `$1`; everything else of the statement hangs on `head`. */
export const headText = `head as (
  update accounts set audit_sequence = audit_sequence + 1 where account_id = $1
  returning audit_sequence as event, revision
)`;

/** Writes the event; its parameters are the first eight of the statement. */
export const insertAuditText = `insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta)
select $1, head.event, head.revision, $2::timestamptz, $3, $4, $5, $6, $7, $8::jsonb from head`;

/** These first eight parameters. */
export function auditParameters(account: string, { actor, event, at }: AuditEntry): readonly unknown[] {
  const { id, name, email = '' } = actor;
  return [account, at, event.code, id, name, email, event.target ?? '', JSON.stringify(event.meta)];
}
