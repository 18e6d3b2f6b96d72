import type { EventRow } from '../../../db/deliveries/work.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { activities, isActivityCode } from '../../../model/declare/activities.ts';
import type { DeliveryEvent } from './target.ts';

/** An audit event as targets see it. */
export function deliveryEvent(row: EventRow): DeliveryEvent {
  const { id, created_at, activity_code: code, initiator_id, initiator_name, initiator_email, target_id, meta } = row;
  const { name } = meta;
  return {
    id,
    at: created_at.toISOString(),
    code,
    activity: isActivityCode(code) ? activities[code] : code,
    initiator: { id: initiator_id, name: initiator_name, email: initiator_email },
    target: { id: target_id, name: typeof name === 'string' ? name : '' },
    meta,
  };
}

/** What receivers get about an event, as JSON. */
export function eventBody(account: string, event: DeliveryEvent): JsonObject {
  const { id, at, code, activity, initiator, target, meta } = event;
  return { id, timestamp: at, type: code, activity, account, initiator, target, meta };
}
