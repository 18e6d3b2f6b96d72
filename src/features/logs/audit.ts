import type { Call, Engine } from '../../commit/engine.ts';
import { listAuditEvents } from '../../db/logs/audit.ts';
import type { JsonObject } from '../../lib/json.ts';
import { activities, isActivityCode } from '../../model/declare/activities.ts';

/** Maximum number of events in one answer. */
const maxEvents = 10_000;

/** A page of audit events, and where the log begins if older events were deleted. */
export interface AuditPage {
  readonly events: readonly JsonObject[];
  /** Number of the last deleted event. Present when the page reaches the oldest event that is kept. */
  readonly deletedTo?: number;
}

/** Returns audit events of the account, newest first: those before the event number `before` when it is given. */
export async function readAuditEvents(engine: Engine, call: Call, before?: number): Promise<AuditPage> {
  const { rows, deletedTo } = await listAuditEvents(engine.database, call.account, {
    limit: maxEvents,
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
  return { events, ...(rows.length < maxEvents && deletedTo > 0 ? { deletedTo } : {}) };
}
