import type { Call, Engine } from '../../commit/engine.ts';
import { listAuditEvents } from '../../db/logs/audit.ts';
import type { JsonObject } from '../../lib/json.ts';
import { activities, isActivityCode } from '../../model/declare/activities.ts';

/** How many events one answer has at most. */
const longest = 10_000;

/** Audit events, and where the log ends when what was before is not kept any more. */
export interface AuditPage {
  readonly events: readonly JsonObject[];
  /** The number of the last event that was deleted, when the page reaches so far. */
  readonly deletedTo?: number;
}

/** What was done in the account, newest first. */
export async function readAuditEvents(engine: Engine, call: Call, before?: number): Promise<AuditPage> {
  const { rows, deletedTo } = await listAuditEvents(engine.database, call.account, {
    limit: longest,
    ...(before === undefined ? {} : { before }),
  });
  const events = rows.map(
    ({
      id,
      created_at,
      activity_code,
      initiator_id,
      initiator_name,
      initiator_email,
      target_id,
      meta,
      http_request: request,
    }) => ({
      id,
      timestamp: created_at.toISOString(),
      activity: isActivityCode(activity_code) ? activities[activity_code] : activity_code,
      activity_code,
      initiator_id,
      initiator_name,
      initiator_email,
      target_id,
      meta,
      ...(request === null ? {} : { request_id: request }),
    }),
  );
  return { events, ...(rows.length < longest && deletedTo > 0 ? { deletedTo } : {}) };
}
