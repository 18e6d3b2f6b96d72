import type { FastifyRequest } from 'fastify';
import {
  type ProxyLogQuery,
  type ProxyLogSort,
  proxyLogSorts,
  readProxyLog,
  showProxyRecord,
} from '../../features/logs/proxy-log.ts';
import type { JsonObject } from '../../lib/json.ts';
import { requestResults, sortOrders } from '../../model/declare/list-words.ts';
import { serviceModes } from '../../model/declare/service-words.ts';
import { header, json, operation, query } from '../../model/lower/openapi/operation.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';
import { envelope, present, readFeedQuery } from '../input/feed-query.ts';

const path = '/api/events/proxy';
const defaultSize = 50;
const mostPerPage = 100;
const lastPage = 1_000_000_000;

// The words that the columns are known by.
const sorts = Object.keys(proxyLogSorts) as readonly ProxyLogSort[];

const example: JsonObject = {
  ...{ id: 'ch8i4ug6lnn4g9hqv8a0', service_id: 'ch8i4ug6lnn4g9hqv7m0', timestamp: '2026-11-02T10:00:00.000Z' },
  ...{ method: 'GET', host: 'builds.proxy.example.com', path: '/jobs/17', duration_ms: 12, status_code: 200 },
  ...{ source_ip: '203.0.113.7', user_id: 'ch8i4ug6lnn4g9hqv7p0', auth_method_used: 'oidc', country_code: 'CH' },
  ...{ bytes_upload: 310, bytes_download: 5120, protocol: 'http' },
};

/** The requests that went through reverse proxies. */
export const proxyEvents: AreaRoutes = {
  add(app, engine) {
    app.get(path, { config: { access: { module: 'services', operation: 'read' } } }, async (request, reply) => {
      const asked = readQuery(request);
      const { records, total, sortedFrom } = await readProxyLog(engine, callOf(request), asked);
      const body = {
        ...envelope(records.map(showProxyRecord), { ...asked, total }),
        ...(sortedFrom === undefined ? {} : { sorted_from: sortedFrom.toISOString() }),
      };
      return sendLong(request, reply, { version: 0, body });
    });
  },
  paths: { [path]: { get: describe() } },
};

function readQuery(request: FastifyRequest): ProxyLogQuery {
  const read = readFeedQuery(request);
  const texts = { search: read.text('search'), host: read.text('host'), path: read.text('path') };
  const more = { source_ip: read.text('source_ip'), method: read.text('method') };
  const status = read.word('status', requestResults);
  const codes = { status_code: read.number('status_code', 0, 999) };
  const times = { from: read.time('start_date'), to: read.time('end_date') };
  const user = { id: read.text('user_id'), email: read.text('user_email'), name: read.text('user_name') };
  const sort = read.word('sort_by', sorts) ?? 'timestamp';
  const order = read.word('sort_order', sortOrders) ?? 'desc';
  const page = read.number('page', 1, lastPage) ?? 1;
  const size = read.number('page_size', 1, lastPage) ?? defaultSize;
  read.finish();
  return {
    ...present({ ...texts, ...more, ...codes, ...times }),
    ...(status === undefined ? {} : { status }),
    ...{ user: present(user), sort, order, page, page_size: Math.min(size, mostPerPage) },
  };
}

function describe(): JsonObject {
  const text = (description: string) => ({ type: 'string', description });
  const count = (description: string) => ({ type: 'integer', description });
  const always = {
    id: text('The id of the request.'),
    service_id: text('The id of the service.'),
    timestamp: { type: 'string', format: 'date-time', description: 'When the request came.' },
    method: text('The method of the request.'),
    host: text('The name that was asked for.'),
    path: text('The path that was asked for, its first 4,096 characters.'),
    duration_ms: count('How long it took, in milliseconds.'),
    status_code: count('The status of the answer.'),
    bytes_upload: count('Bytes of the request.'),
    bytes_download: count('Bytes of the answer.'),
  };
  const sometimes = {
    source_ip: text('The address of the client.'),
    reason: text('Why the request was turned away.'),
    user_id: text('The id of the user who signed in.'),
    auth_method_used: text('How the client signed in.'),
    country_code: text('The country of the client, ISO 3166-1.'),
    city_name: text('The city of the client.'),
    subdivision_code: text('The part of the country.'),
    protocol: { type: 'string', enum: serviceModes, description: 'What was forwarded.' },
    metadata: { type: 'object', additionalProperties: { type: 'string' }, description: 'More about it, by name.' },
  };
  const record = { type: 'object', required: Object.keys(always), properties: { ...always, ...sometimes } };
  const around = {
    data: { type: 'array', items: record, description: 'The records of the page.' },
    page: count('The page, from 1.'),
    page_size: count('How many records a page has.'),
    total_records: count('How many records there are; exact up to 100,000, above it from hourly counts.'),
    total_pages: count('How many pages there are.'),
  };
  const sortedFrom = {
    type: 'string',
    format: 'date-time',
    description:
      'Present when only the newest records were sorted, because there are too many: the moment behind which they lie. `start_date` and `end_date` choose others.',
  };
  return operation({
    id: 'listProxyEvents',
    tag: 'events',
    summary: 'List the requests that went through reverse proxies',
    description: 'Newest first. Sorted by anything but time, at most about the newest 100,000 records that fit.',
    parameters: [header('IfNoneMatch'), ...parameters()],
    answer: json(
      { type: 'object', required: Object.keys(around), properties: { ...around, sorted_from: sortedFrom } },
      { data: [example], page: 1, page_size: 50, total_records: 1, total_pages: 1 },
    ),
    headers: ['ETag'],
    unchanged: true,
    errors: [401, 403, 422, 429, 503],
  });
}

function parameters(): readonly JsonObject[] {
  const whole = { type: 'integer', minimum: 1 };
  const time = { type: 'string', format: 'date-time' };
  return [
    query('page', 'The page, from 1.', whole),
    query('page_size', 'How many records a page has, 50 unless said otherwise; above 100 it is 100.', whole),
    query('sort_by', 'By what to sort; `url` is host, then path.', { type: 'string', enum: [...sorts] }),
    query('sort_order', 'Descending unless said otherwise.', { type: 'string', enum: sortOrders }),
    query(
      'search',
      'A part of the id of the request, of host, path or address of the client, or of e-mail address or name of the user, in any case. In ids, one or two characters are looked for at the beginning.',
    ),
    query('source_ip', 'The address of the client.'),
    query('host', 'The name that was asked for, in any case.'),
    query('path', 'A part of the path, in any case.'),
    query('user_id', 'The id of the user.'),
    query('user_email', 'A part of the e-mail address of the user, in any case.'),
    query('user_name', 'A part of the name of the user, in any case.'),
    query('method', 'The method of the request, in any case.'),
    query('status', '`success` is 2xx and 3xx, `failed` everything else.', {
      type: 'string',
      enum: requestResults,
    }),
    query('status_code', 'The status of the answer.', { type: 'integer', minimum: 0, maximum: 999 }),
    query('start_date', 'Only what came at this moment or later.', time),
    query('end_date', 'Only what came at this moment or earlier.', time),
  ];
}
