import { optional, time } from '../model/operation/fields.ts';
import { defineOperation } from '../model/operation/operation.ts';
import { boolean, integer, list, object, string } from '../model/schema/field.ts';

/** Members of a peer's response that the list of accessible peers shows too. */
export const accessiblePeerFields = {
  id: string({ doc: 'The id of the peer.' }),
  name: string({ doc: 'Display name.' }),
  ip: string({ doc: 'Its IPv4 address in the mesh.' }),
  ipv6: optional(string({ doc: 'Its IPv6 address in the mesh, if it has one.' })),
  dns_label: string({ doc: 'DNS name of the peer in the mesh.' }),
  user_id: string({ doc: 'User who enrolled the peer; empty for a peer that enrolled with a setup key.' }),
  os: string({ doc: 'Its operating system, with the version.' }),
  country_code: string({ doc: 'Two-letter code of the country in which the peer is.' }),
  city_name: string({ doc: 'The city where it is.' }),
  geoname_id: integer({ doc: 'GeoNames id of the place where the peer is.' }),
  connected: boolean({ doc: 'Whether it is connected.' }),
  last_seen: time({ doc: 'When it was last connected.' }),
};

/** Operation that lists the peers to which a peer may open a connection. */
export const accessiblePeers = {
  list: defineOperation({
    id: 'listAccessiblePeers',
    method: 'GET',
    path: '/api/peers/{peerId}/accessible-peers',
    access: { module: 'peers', operation: 'read', own: true },
    summary: 'List the peers that a peer may open a connection to',
    doc: 'Drop rules and posture checks are taken into account; access that depends on unknown facts about the peer is treated as denied. Callers who may not read peers may query their own.',
    params: { peerId: string({ doc: 'The id of the peer.' }) },
    answer: list(
      object(accessiblePeerFields, { doc: 'A peer to which another one may connect.', schema: 'AccessiblePeer' }),
      { doc: '' },
    ),
    example: {
      answer: [
        {
          ...{ id: 'ch8i4ug6lnn4g9hqv7n0', name: 'Database', ip: '100.72.0.13', dns_label: 'database.heddle.internal' },
          ...{ user_id: '', os: 'Debian 13', country_code: 'DE', city_name: 'Berlin', geoname_id: 2950159 },
          ...{ connected: true, last_seen: '2026-12-02T00:00:00Z' },
        },
      ],
    },
  }),
};
