import type { EventRow } from '../../../db/deliveries/work.ts';
import { proxyFeed, trafficFeed } from '../../../db/logs/feeds.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { activities, isActivityCode } from '../../../model/declare/activities.ts';
import type { EventFeed } from '../../../model/declare/list-words.ts';
import type { DeliveryEvent } from './target.ts';

/** The codes of records in words. */
const records: Readonly<Record<string, string>> = {
  [trafficFeed.code]: 'Network traffic',
  [proxyFeed.code]: 'Request through a reverse proxy',
};

/** What a code says, in words. */
function activityOf(code: string): string {
  return isActivityCode(code) ? activities[code] : (records[code] ?? code);
}

/** An audit event, or a record, as targets see it. */
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

/** By what receivers know an event: its number in the audit log, and of a record the name of the feed besides. */
export function eventName({ feed, id }: Pick<DeliveryEvent, 'feed' | 'id'>): number | string {
  return feed === 'audit' ? id : `${feed}-${id}`;
}

/** What receivers get about an event, as JSON. */
export function eventBody(account: string, event: DeliveryEvent): JsonObject {
  const { at, code, activity, initiator, target, meta, requestId } = event;
  const request = requestId === undefined ? {} : { request_id: requestId };
  return { id: eventName(event), timestamp: at, type: code, activity, account, initiator, target, meta, ...request };
}

/** The header of a delivery that names the request which led to its events, if it was one and the same. */
export function requestHeader(events: readonly DeliveryEvent[]): Readonly<Record<string, string>> {
  const [id, ...others] = new Set(events.map(({ requestId }) => requestId));
  return id === undefined || others.length > 0 ? {} : { 'x-request-id': id };
}
