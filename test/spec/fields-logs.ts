import { addRequest, addTraffic } from './logs.ts';
import type { Rows } from './row.ts';
import { answer, integer, list, map, mayBeAbsent, type Shape, text, timestamp } from './shape.ts';

const event = answer({
  id: integer,
  timestamp,
  activity: text,
  activity_code: text,
  initiator_id: text,
  initiator_name: text,
  initiator_email: text,
  target_id: text,
  meta: map(text),
});

const page = (of: Shape) =>
  answer({ data: list(of), page: integer, page_size: integer, total_records: integer, total_pages: integer });

const endpoint = answer({
  id: text,
  type: text,
  name: text,
  geo_location: answer({ city_name: text, country_code: text }),
  os: text,
  address: text,
  dns_label: text,
});

const traffic = answer({
  flow_id: text,
  reporter_id: text,
  source: endpoint,
  destination: endpoint,
  user: answer({ id: text, email: text, name: text }),
  policy: answer({ id: text, name: text }),
  icmp: answer({ type: integer, code: integer }),
  protocol: integer,
  direction: text,
  rx_bytes: integer,
  rx_packets: integer,
  tx_bytes: integer,
  tx_packets: integer,
  num_of_starts: integer,
  num_of_ends: integer,
  num_of_drops: integer,
  window_start: timestamp,
  window_end: timestamp,
  events: list(answer({ type: text, timestamp })),
});

const empty = 'wire facts 20: omitted when empty';

const accessLog = answer({
  id: text,
  service_id: text,
  timestamp,
  method: text,
  host: text,
  path: text,
  duration_ms: integer,
  status_code: integer,
  source_ip: mayBeAbsent(text, empty),
  reason: mayBeAbsent(text, empty),
  user_id: mayBeAbsent(text, empty),
  auth_method_used: mayBeAbsent(text, empty),
  country_code: mayBeAbsent(text, empty),
  city_name: mayBeAbsent(text, empty),
  subdivision_code: mayBeAbsent(text, empty),
  bytes_upload: integer,
  bytes_download: integer,
  protocol: mayBeAbsent(text, empty),
  metadata: mayBeAbsent(map(text), empty),
});

/** Operations on logs: audit events, network traffic and requests to proxies. */
export const logs: Rows = {
  'GET /api/events/audit': { answer: list(event) },
  'GET /api/events/network-traffic': {
    given: addTraffic,
    query: {
      ...{ page: '1', page_size: '10', user_id: 'u', reporter_id: 'r', source_id: 's', destination_id: 'd' },
      ...{ protocol: '6', type: 'TYPE_START', connection_type: 'P2P', direction: 'INGRESS', search: 'laptop' },
      ...{ start_date: '2026-01-01T00:00:00Z', end_date: '2026-12-31T23:59:59Z' },
    },
    answer: page(traffic),
  },
  'GET /api/events/proxy': {
    given: addRequest,
    query: {
      ...{ page: '1', page_size: '10', sort_by: 'url', sort_order: 'asc', search: 'app', source_ip: '192.0.2.1' },
      ...{ host: 'app.example.com', path: '/in', user_id: 'u', user_email: 'ana', user_name: 'Ana', method: 'GET' },
      ...{ status: 'success', status_code: '200' },
      ...{ start_date: '2026-01-01T00:00:00Z', end_date: '2026-12-31T23:59:59Z' },
    },
    answer: page(accessLog),
  },
};
