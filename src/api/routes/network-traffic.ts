import type { FastifyRequest } from 'fastify';
import { readTraffic, showTraffic, type TrafficQuery, trafficWords } from '../../features/logs/traffic-log.ts';
import type { JsonObject } from '../../lib/json.ts';
import { NotFound } from '../../model/errors.ts';
import { header, json, operation, query } from '../../model/lower/openapi/operation.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { envelope, present, readFeedQuery } from '../input/feed-query.ts';

const path = '/api/events/network-traffic';
const defaultSize = 1000;
const mostPerPage = 50_000;
const lastPage = 1_000_000_000;

/** The traffic that peers report. */
export const networkTraffic: AreaRoutes = {
  edition: 'hosted',
  add(app, engine) {
    app.get(path, { config: { access: { module: 'events', operation: 'read' } } }, async (request, reply) => {
      if (engine.planEnvironment.edition !== 'hosted')
        throw new NotFound(
          'network traffic not found: it exists in the hosted edition only, and this server runs the self-hosted one',
        );
      const asked = readQuery(request);
      const { records, total } = await readTraffic(engine, callOf(request), asked);
      const body = envelope(records.map(showTraffic), { ...asked, total });
      return sendLong(request, reply, { version: 0, body });
    });
  },
  paths: { [path]: { get: describe() } },
};

function readQuery(request: FastifyRequest): TrafficQuery {
  const read = readFeedQuery(request);
  const asked = {
    ...{ user_id: read.text('user_id'), reporter_id: read.text('reporter_id') },
    ...{ source_id: read.text('source_id'), destination_id: read.text('destination_id') },
    protocol: read.number('protocol', 0, 255),
    type: read.word('type', trafficWords.type),
    connection_type: read.word('connection_type', trafficWords.connection_type),
    direction: read.word('direction', trafficWords.direction),
    ...{ search: read.text('search'), from: read.time('start_date'), to: read.time('end_date') },
  };
  const page = read.number('page', 1, lastPage) ?? 1;
  const size = read.number('page_size', 1, lastPage) ?? defaultSize;
  read.finish();
  return { ...present(asked), page, page_size: Math.min(size, mostPerPage) };
}

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function count(description: string): JsonObject {
  return { type: 'integer', description };
}

function time(description: string): JsonObject {
  return { type: 'string', format: 'date-time', description };
}

function whole(description: string, properties: JsonObject): JsonObject {
  return { type: 'object', description, required: Object.keys(properties), properties };
}

function recordSchema(): JsonObject {
  const end = (description: string) =>
    whole(description, {
      id: text('The id of the peer or resource; empty for what is neither.'),
      type: {
        type: 'string',
        enum: ['UNKNOWN', 'PEER', 'HOST_RESOURCE', 'SUBNET_RESOURCE', 'DOMAIN_RESOURCE', 'ROUTE'],
        description: 'What it is.',
      },
      name: text('Its name.'),
      geo_location: whole('Where it is.', { city_name: text('The city.'), country_code: text('The country.') }),
      os: text('Its operating system.'),
      address: text('Address and port.'),
      dns_label: text('Its name in the mesh.'),
    });
  const event = whole('One event.', {
    type: { type: 'string', enum: [...trafficWords.type], description: 'What happened.' },
    timestamp: time('When it happened.'),
  });
  return whole('Traffic of one flow in a stretch of time.', {
    flow_id: text('The id of the flow.'),
    reporter_id: text('The id of the peer that reported it.'),
    source: end('Where it came from.'),
    destination: end('Where it went.'),
    user: whole('Whose it was.', { id: text('The id.'), email: text('The e-mail address.'), name: text('The name.') }),
    policy: whole('The policy that decided.', { id: text('The id.'), name: text('The name.') }),
    icmp: whole('Of ICMP, type and code.', { type: count('The type.'), code: count('The code.') }),
    protocol: count('The number of the IP protocol.'),
    direction: { type: 'string', enum: [...trafficWords.direction], description: 'Seen from the reporter.' },
    rx_bytes: count('Bytes received; 0 while counters are off.'),
    rx_packets: count('Packets received.'),
    tx_bytes: count('Bytes sent.'),
    tx_packets: count('Packets sent.'),
    num_of_starts: count('How often it began.'),
    num_of_ends: count('How often it ended.'),
    num_of_drops: count('How often it was turned away.'),
    window_start: time('Where the stretch begins.'),
    window_end: time('Where the stretch ends.'),
    events: { type: 'array', items: event, description: 'What happened, at least one event.' },
  });
}

function describe(): JsonObject {
  const around = {
    data: { type: 'array', items: recordSchema(), description: 'The records of the page.' },
    page: count('The page, from 1.'),
    page_size: count('How many records a page has.'),
    total_records: count('How many records there are; exact up to 100,000, above it from hourly counts.'),
    total_pages: count('How many pages there are.'),
  };
  return operation({
    id: 'listNetworkTraffic',
    tag: 'events',
    summary: 'List the traffic that peers reported',
    description: 'Newest first. Hosted edition only; stored while `network_traffic_logs_enabled` of the account is on.',
    parameters: [header('IfNoneMatch'), ...parameters()],
    answer: json(
      { type: 'object', required: Object.keys(around), properties: around },
      { data: [], page: 1, page_size: 1000, total_records: 0, total_pages: 0 },
    ),
    headers: ['ETag'],
    unchanged: true,
    errors: [401, 403, 404, 422, 429, 503],
  });
}

function parameters(): readonly JsonObject[] {
  const number = { type: 'integer', minimum: 1 };
  const moment = { type: 'string', format: 'date-time' };
  const words = (name: keyof typeof trafficWords) => ({ type: 'string', enum: [...trafficWords[name]] });
  return [
    query('page', 'The page, from 1.', number),
    query('page_size', 'How many records a page has, 1,000 unless said otherwise; above 50,000 it is 50,000.', number),
    query('user_id', 'The id of the user.'),
    query('reporter_id', 'The id of the peer that reported it.'),
    query('source_id', 'The id of the peer or resource where it came from.'),
    query('destination_id', 'The id of the peer or resource where it went.'),
    query('protocol', 'The number of the IP protocol.', { type: 'integer', minimum: 0, maximum: 255 }),
    query('type', 'Only flows with an event of this type.', words('type')),
    query('connection_type', 'Between peers, or by way of a routing peer.', words('connection_type')),
    query('direction', 'Seen from the reporter.', words('direction')),
    query('search', 'A part of the user’s e-mail address, or of name or address of an end, in any case.'),
    query('start_date', 'Only what ended at this moment or later.', moment),
    query('end_date', 'Only what ended at this moment or earlier.', moment),
  ];
}
