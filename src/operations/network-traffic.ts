import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { integer, list, object, oneOf, string } from '../model/schema/field.ts';
import { pageFields, pageOf, rangeFields } from './log-pages.ts';

/** Enum values of traffic events. */
export const trafficEnums = {
  type: ['TYPE_UNKNOWN', 'TYPE_START', 'TYPE_END', 'TYPE_DROP'],
  direction: ['DIRECTION_UNKNOWN', 'INGRESS', 'EGRESS'],
  connection_type: ['P2P', 'ROUTED'],
} as const;

const endpointTypes = ['UNKNOWN', 'PEER', 'HOST_RESOURCE', 'SUBNET_RESOURCE', 'DOMAIN_RESOURCE', 'ROUTE'] as const;

const endFields = {
  id: string({ doc: 'Id of the peer or resource; empty when it is neither.' }),
  type: oneOf(endpointTypes, { doc: 'Type of the endpoint.' }),
  name: string({ doc: 'Its name.' }),
  geo_location: object(
    { city_name: string({ doc: 'The city.' }), country_code: string({ doc: 'The country.' }) },
    { doc: 'Location of the endpoint.' },
  ),
  os: string({ doc: 'Its operating system.' }),
  address: string({ doc: 'Address and port.' }),
  dns_label: string({ doc: 'Its name in the mesh.' }),
};

const event = object(
  { type: oneOf(trafficEnums.type, { doc: 'What happened.' }), timestamp: time({ doc: 'When it happened.' }) },
  { doc: 'One event.' },
);

const record = object(
  {
    flow_id: string({ doc: 'The id of the flow.' }),
    reporter_id: string({ doc: 'The id of the peer that reported it.' }),
    source: object(endFields, { doc: 'Endpoint that the traffic came from.' }),
    destination: object(endFields, { doc: 'Endpoint that the traffic was sent to.' }),
    user: object(
      {
        id: string({ doc: 'The id.' }),
        email: string({ doc: 'The e-mail address.' }),
        name: string({ doc: 'The name.' }),
      },
      { doc: 'User of the source peer, or of the reporting peer when the source has no user.' },
    ),
    policy: object(
      { id: string({ doc: 'The id.' }), name: string({ doc: 'The name.' }) },
      { doc: 'Policy that decided about the traffic.' },
    ),
    icmp: object(
      { type: integer({ doc: 'The type.' }), code: integer({ doc: 'The code.' }) },
      { doc: 'ICMP type and code.' },
    ),
    protocol: integer({ doc: 'The number of the IP protocol.' }),
    direction: oneOf(trafficEnums.direction, { doc: 'Direction, as seen from the reporting peer.' }),
    rx_bytes: integer({ doc: 'Bytes received; 0 while counters are off.' }),
    rx_packets: integer({ doc: 'Packets received.' }),
    tx_bytes: integer({ doc: 'Bytes sent.' }),
    tx_packets: integer({ doc: 'Packets sent.' }),
    num_of_starts: integer({ doc: 'Number of times the flow began.' }),
    num_of_ends: integer({ doc: 'Number of times the flow ended.' }),
    num_of_drops: integer({ doc: 'Number of times the flow was dropped.' }),
    window_start: time({ doc: 'Start of the period.' }),
    window_end: time({ doc: 'End of the period.' }),
    events: list(event, { doc: 'Events of the flow, at least one.' }),
  },
  { doc: 'Traffic of one flow in a period.', schema: 'NetworkTraffic' },
);

/** Operation that lists the traffic that peers report. */
export const networkTraffic = {
  list: defineOperation({
    id: 'listNetworkTraffic',
    method: 'GET',
    path: '/api/events/network-traffic',
    edition: 'hosted',
    access: { module: 'events', operation: 'read' },
    summary: 'List the traffic that peers reported',
    doc: 'Newest first. Hosted edition only; stored while `network_traffic_logs_enabled` of the account is on.',
    query: {
      ...pageFields({
        usual: 1000,
        most: 50_000,
        sizeDoc: 'Number of records per page; default 1,000. Values above 50,000 become 50,000.',
      }),
      user_id: optional(string({ doc: 'The id of the user.' })),
      reporter_id: optional(string({ doc: 'The id of the peer that reported it.' })),
      source_id: optional(string({ doc: 'Id of the peer or resource that the traffic came from.' })),
      destination_id: optional(string({ doc: 'Id of the peer or resource that the traffic was sent to.' })),
      protocol: optional(integer({ doc: 'The number of the IP protocol.', minimum: 0, maximum: 255 })),
      type: optional(oneOf(trafficEnums.type, { doc: 'Only flows with an event of this type.' })),
      connection_type: optional(
        oneOf(trafficEnums.connection_type, { doc: 'Whether the traffic is between peers or through a routing peer.' }),
      ),
      direction: optional(oneOf(trafficEnums.direction, { doc: 'Direction, as seen from the reporting peer.' })),
      search: optional(
        string({
          doc: 'Part of the user’s e-mail address, or of the name or address of an endpoint; case is ignored.',
        }),
      ),
      ...rangeFields('ended'),
    },
    answer: object(pageOf(record), { doc: 'A page of the traffic.', schema: 'NetworkTrafficPage' }),
    errors: ['not_found'],
    example: { answer: { data: [], page: 1, page_size: 1000, total_records: 0, total_pages: 0 } },
  }),
};
