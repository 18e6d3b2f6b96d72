import type { EventRow } from '../../../db/deliveries/work.ts';
import { proxyFeed, trafficFeed } from '../../../db/logs/feeds.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { activities, isActivityCode } from '../../../model/declare/activities.ts';
import type { EventFeed } from '../../../model/declare/list-words.ts';
import type { DeliveryEvent } from './target.ts';

/** Names of the codes of records, for people. */
const records: Readonly<Record<string, string>> = {
  [trafficFeed.eventCode]: 'Network traffic',
  [proxyFeed.eventCode]: 'Request through a reverse proxy',
};

/** Returns the name of a code, for people. */
function activityOf(code: string): string {
  return isActivityCode(code) ? activities[code] : (records[code] ?? code);
}

/** Returns an audit event or a record in the form that targets receive. */
export function deliveryEvent(row: EventRow, feed: EventFeed): DeliveryEvent {
  const { id, created_at, activity_code: code, initiator_id, initiator_name, initiator_email, target_id, meta } = row;
  const name = row.target_name ?? meta['name'];
  return {
    ...{ feed, id, at: created_at.toISOString(), code, activity: activityOf(code) },
    initiator: { id: initiator_id, name: initiator_name, email: initiator_email },
    target: { id: target_id, name: typeof name === 'string' ? name : '' },
    meta,
    ...(row.http_request == null ? {} : { requestId: row.http_request }),
  };
}

/**
 * Returns the name by which receivers identify an event: its number in the audit log, or for a record the name of the
 * feed and the number.
 */
export function eventName({ feed, id }: Pick<DeliveryEvent, 'feed' | 'id'>): number | string {
  return feed === 'audit' ? id : `${feed}-${id}`;
}

/** Returns the JSON that receivers get about an event. */
export function eventBody(account: string, event: DeliveryEvent): JsonObject {
  const { at, code, activity, initiator, target, meta, requestId } = event;
  const request = requestId === undefined ? {} : { request_id: requestId };
  return { id: eventName(event), timestamp: at, type: code, activity, account, initiator, target, meta, ...request };
}

/**
 * Returns the header that names the request which caused the events. Returns no header unless one request caused all of
 * them.
 */
export function requestHeader(events: readonly DeliveryEvent[]): Readonly<Record<string, string>> {
  const [id, ...others] = new Set(events.map(({ requestId }) => requestId));
  return id === undefined || others.length > 0 ? {} : { 'x-request-id': id };
}
