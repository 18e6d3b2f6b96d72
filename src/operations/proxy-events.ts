import { requestResults, sortOrders } from '../model/declare/list-words.ts';
import { serviceModes } from '../model/declare/service-words.ts';
import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { integer, mapOf, object, oneOf, string } from '../model/schema/field.ts';
import { pageFields, pageOf, rangeFields } from './log-pages.ts';

/** Members by which the log can be sorted. */
const proxyLogSorts = [
  ...(['timestamp', 'url', 'host', 'path', 'method', 'status_code', 'duration', 'source_ip'] as const),
  ...(['user_id', 'auth_method', 'reason'] as const),
] as const;

/** Member by which the log can be sorted. */
export type ProxyLogSort = (typeof proxyLogSorts)[number];

const record = object(
  {
    id: string({ doc: 'The id of the request.' }),
    service_id: string({ doc: 'The id of the service.' }),
    timestamp: time({ doc: 'Time of the request.' }),
    method: string({ doc: 'The method of the request.' }),
    host: string({ doc: 'Host name of the request.' }),
    path: string({ doc: 'Path of the request, its first 4,096 characters.' }),
    duration_ms: integer({ doc: 'Duration in milliseconds.' }),
    status_code: integer({ doc: 'The status of the answer.' }),
    bytes_upload: integer({ doc: 'Bytes of the request.' }),
    bytes_download: integer({ doc: 'Bytes of the answer.' }),
    source_ip: optional(string({ doc: 'The address of the client.' })),
    reason: optional(string({ doc: 'Why the request was rejected.' })),
    user_id: optional(string({ doc: 'The id of the user who signed in.' })),
    auth_method_used: optional(string({ doc: 'How the client signed in.' })),
    country_code: optional(string({ doc: 'The country of the client, ISO 3166-1.' })),
    city_name: optional(string({ doc: 'The city of the client.' })),
    subdivision_code: optional(string({ doc: 'Code of the state or region in the country.' })),
    protocol: optional(oneOf(serviceModes, { doc: 'Protocol that was forwarded.' })),
    metadata: optional(mapOf(string({ doc: '' }), { doc: 'Further details, by name.' })),
  },
  { doc: 'A request that went through a reverse proxy.', schema: 'ProxyEvent' },
);

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv8a0', service_id: 'ch8i4ug6lnn4g9hqv7m0', timestamp: '2026-11-02T10:00:00.000Z' },
  ...{ method: 'GET', host: 'builds.proxy.example.com', path: '/jobs/17', duration_ms: 12, status_code: 200 },
  ...{ source_ip: '203.0.113.7', user_id: 'ch8i4ug6lnn4g9hqv7p0', auth_method_used: 'oidc', country_code: 'CH' },
  ...{ bytes_upload: 310, bytes_download: 5120, protocol: 'http' },
};

/** Operation that lists the requests that reverse proxies served. */
export const proxyEvents = {
  list: defineOperation({
    id: 'listProxyEvents',
    method: 'GET',
    path: '/api/events/proxy',
    access: { module: 'services', operation: 'read' },
    tag: 'events',
    summary: 'List the requests that went through reverse proxies',
    doc: 'Newest first. When sorted by anything except time, only about the newest 100,000 matching records are considered.',
    query: {
      ...pageFields({
        usual: 50,
        most: 100,
        sizeDoc: 'Number of records per page; default 50. Values above 100 become 100.',
      }),
      sort_by: oneOf(proxyLogSorts, { doc: 'Field to sort by; `url` sorts by host, then path.', default: 'timestamp' }),
      sort_order: oneOf(sortOrders, { doc: 'Sort order; default descending.', default: 'desc' }),
      search: optional(
        string({
          doc: 'Part of the id of the request, of the host, path or address of the client, or of the e-mail address or name of the user; case is ignored. One or two characters match only the beginning of an id.',
        }),
      ),
      source_ip: optional(string({ doc: 'The address of the client.' })),
      host: optional(string({ doc: 'Host name of the request; case is ignored.' })),
      path: optional(string({ doc: 'Part of the path; case is ignored.' })),
      user_id: optional(string({ doc: 'The id of the user.' })),
      user_email: optional(string({ doc: 'Part of the e-mail address of the user; case is ignored.' })),
      user_name: optional(string({ doc: 'Part of the name of the user; case is ignored.' })),
      method: optional(string({ doc: 'Method of the request; case is ignored.' })),
      status: optional(oneOf(requestResults, { doc: '`success` is 2xx and 3xx, `failed` everything else.' })),
      status_code: optional(integer({ doc: 'The status of the answer.', minimum: 0, maximum: 999 })),
      ...rangeFields('came'),
    },
    answer: object(
      {
        ...pageOf(record),
        sorted_from: optional(
          time({
            doc: 'Time from which records were sorted. Present when there are too many to sort, so that only the newest are included; choose others with `start_date` and `end_date`.',
          }),
        ),
      },
      { doc: 'A page of the log of reverse proxies.', schema: 'ProxyEventPage' },
    ),
    example: { answer: { data: [example], page: 1, page_size: 50, total_records: 1, total_pages: 1 } },
  }),
};
