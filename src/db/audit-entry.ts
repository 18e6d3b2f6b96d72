import type { JsonObject } from '../lib/json.ts';
import type { Actor } from '../model/declare/actor.ts';
import type { AuditEvent } from '../model/declare/kind.ts';
import { currentContext } from '../telemetry/context.ts';

/** An audit event of an action that makes no revision. It is written in the same transaction as the action. */
export interface AuditEntry {
  readonly actor: Actor;
  readonly event: AuditEvent;
  /** Time of the event, in ISO 8601. */
  readonly at: string;
}

/**
 * Returns the clause `head`, which assigns numbers to `count` audit events of the account `$1` when `condition` holds.
 */
export function numberEventsText(count: string, condition = ''): string {
  return `head as (
  update accounts set audit_sequence = audit_sequence + ${count} where account_id = $1${condition}
  returning audit_sequence - ${count} as last_event, revision
)`;
}

/**
 * Clause `head`, which assigns a number to one audit event of the account `$1`. All other clauses of the statement
 * depend on `head`.
 */
export const headText = numberEventsText('1');

/** Returns the clause `head` for a statement that writes its event only when the clause `clause` returned a row. */
export function headAfter(clause: string): string {
  return numberEventsText('1', ` and exists (select from ${clause})`);
}

/**
 * Returns the text that writes audit events with the numbers that `head` assigned. `rows` is an SQL expression: a JSON
 * list of `eventRow`s.
 */
export function insertEventsText(rows: string): string {
  return `insert into audit_events (account_id, id, revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta, http_request)
select $1, head.last_event + x.at, coalesce(x.revision, head.revision), x.created_at, x.activity_code, x.initiator_id, x.initiator_name, x.initiator_email,
  x.target_id, x.meta, x.http_request
from head, rows from (json_to_recordset(${rows}) as (revision bigint, created_at timestamptz, activity_code text, initiator_id text,
  initiator_name text, initiator_email text, target_id text, meta jsonb, http_request text)) with ordinality
  as x(revision, created_at, activity_code, initiator_id, initiator_name, initiator_email, target_id, meta, http_request, at)`;
}

/**
 * Returns an audit event without its number. Without `revision`, it is stored under the revision that `head` returns.
 * `request` is the id of the HTTP request that caused the event. The default is the current request; pass it when the
 * events of several requests are written together.
 */
export function eventRow(
  { actor, event, at }: AuditEntry,
  revision?: number,
  request = currentContext().requestId,
): JsonObject {
  const { id, name, email = '' } = actor;
  return {
    ...(revision === undefined ? {} : { revision }),
    ...{ created_at: at, activity_code: event.code, target_id: event.target ?? '', meta: event.meta },
    ...{ initiator_id: id, initiator_name: name, initiator_email: email },
    ...(request === undefined ? {} : { http_request: request }),
  };
}

/**
 * Writes the one audit event of a statement from the statement's first eight parameters. The eighth contains the
 * optional members as JSON.
 */
export const insertAuditText = insertEventsText(`json_build_array(json_build_object('created_at', $2::timestamptz,
  'activity_code', $3::text, 'initiator_id', $4::text, 'initiator_name', $5::text, 'initiator_email', $6::text, 'target_id', $7::text,
  'meta', $8::json -> 'meta', 'http_request', $8::json ->> 'http_request'))`);

/** Returns the eight parameters that `insertAuditText` reads. */
export function auditParameters(account: string, { actor, event, at }: AuditEntry): readonly unknown[] {
  const { id, name, email = '' } = actor;
  const more = { meta: event.meta, http_request: currentContext().requestId };
  return [account, at, event.code, id, name, email, event.target ?? '', JSON.stringify(more)];
}
