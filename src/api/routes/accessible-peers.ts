import { readAccessiblePeers } from '../../features/peers/accessible-peers.ts';
import type { JsonObject } from '../../lib/json.ts';
import { header, json, operation, pathParameters } from '../../model/lower/openapi/operation.ts';
import { lowerToResponse } from '../../model/lower/response.ts';
import { sendLong } from '../answers/answers.ts';
import type { AreaRoutes } from '../area-routes.ts';
import { callOf } from '../authenticate.ts';

const path = '/api/peers/{peerId}/accessible-peers';

const text = (description: string): JsonObject => ({ type: 'string', description });

/** Members of a peer's own answer that this one shows too. */
const members: Readonly<Record<string, JsonObject>> = {
  id: text('The id of the peer.'),
  name: text('The name people see.'),
  ip: text('Its IPv4 address in the mesh.'),
  ipv6: text('Its IPv6 address in the mesh, if it has one.'),
  dns_label: text('Its name in the mesh.'),
  user_id: text('The user who enrolled it; empty for a peer that came with a setup key.'),
  os: text('Its operating system, with the version.'),
  country_code: text('The country where it is, in two letters.'),
  city_name: text('The city where it is.'),
  geoname_id: { type: 'integer', description: 'The place where it is, by its number at GeoNames.' },
  connected: { type: 'boolean', description: 'Whether it is connected.' },
  last_seen: { type: 'string', format: 'date-time', description: 'When it was last connected.' },
};

const example = {
  ...{ id: 'ch8i4ug6lnn4g9hqv7n0', name: 'Database', ip: '100.72.0.13', dns_label: 'database.heddle.internal' },
  ...{ user_id: '', os: 'Debian 13', country_code: 'DE', city_name: 'Berlin', geoname_id: 2950159 },
  ...{ connected: true, last_seen: '2026-12-02T00:00:00Z' },
};

/** The peers to which a peer may open a connection. */
export const accessiblePeers: AreaRoutes = {
  add(app, engine) {
    const access = { module: 'peers', operation: 'read', own: true } as const;
    app.get('/api/peers/:id/accessible-peers', { config: { access } }, async (request, reply) => {
      // The route names the parameter.
      const { id } = request.params as { readonly id: string };
      const { peers, state } = await readAccessiblePeers(engine, callOf(request), id);
      const body = peers.map((peer) => shown(lowerToResponse(engine.registry, peer, state)));
      const version = peers.reduce((newest, { updatedRevision }) => Math.max(newest, updatedRevision), 0);
      return sendLong(request, reply, { version, body });
    });
  },
  paths: {
    [path]: {
      ...pathParameters(path, () => ({ description: 'The id of the peer.', schema: { type: 'string' } })),
      get: operation({
        id: 'listAccessiblePeers',
        tag: 'peers',
        summary: 'List the peers that a peer may open a connection to',
        description:
          'Rules that drop and posture checks are weighed; what depends on something that is not known about the peer counts as closed. Callers who may not read peers may ask about their own.',
        parameters: [header('IfNoneMatch')],
        answer: json(
          {
            type: 'array',
            items: {
              type: 'object',
              required: Object.keys(members).filter((name) => name !== 'ipv6'),
              properties: members,
            },
          },
          [example],
        ),
        headers: ['ETag'],
        unchanged: true,
        errors: [401, 403, 404, 429, 503],
      }),
    },
  },
};

function shown(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name in members));
}
