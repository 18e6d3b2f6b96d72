import { defineKind, type Fault, type State } from '../../model/declare/kind.ts';
import { boolean, integer, object, ref, string } from '../../model/schema/field.ts';
import { mappingsOf, portRangeOf, portsOn, transports, usesTransport } from '../../model/state/ingress-ports.ts';
import type { Stored } from '../../model/state/stored.ts';
import { countFreePorts, ingressIpOf, regionOf } from '../shared/ingress.ts';

const pool = (transport: string) =>
  object(
    {
      start: integer({ doc: 'The first port.', default: 20000, minimum: 1, maximum: 65535 }),
      end: integer({ doc: 'The last port.', default: 29999, minimum: 1, maximum: 65535 }),
    },
    {
      doc: `Pool of ${transport} ports that it allocates.`,
      access: 'document',
      hidden: true,
      atomic: true,
      default: {},
      rules: [{ rule: 'rising', members: ['start', 'end'], code: 'port_range_invalid', at: '' }],
    },
  );

const spec = {
  peer_id: ref('Peer', {
    doc: 'The peer. A peer has at most one ingress peer, and an ingress peer cannot move to another peer.',
    access: 'createOnly',
    required: true,
  }),
  enabled: boolean({
    doc: 'Whether new ports may be allocated on it. Ports that it forwards already stay forwarded.',
    required: true,
    documentDefault: true,
  }),
  fallback: boolean({
    doc: 'Whether it also serves peers in regions without an ingress peer.',
    required: true,
    documentDefault: false,
  }),
  region: string({
    doc: 'The region that it serves: the country code of the peers there. If empty, the country where its peer is.',
    access: 'document',
    default: '',
    maxLength: 63,
  }),
  tcp_pool: pool('TCP'),
  udp_pool: pool('UDP'),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    IngressPeer: { fields: typeof spec; derived: object };
  }
}

export const ingressPeer = defineKind({
  name: 'IngressPeer',
  doc: 'A peer with a public address through which ports of other peers are reached from outside the mesh. Hosted edition only.',
  path: '/api/ingress/peers',
  idParameter: 'ingressPeerId',
  edition: 'hosted',
  observed: 'peers',
  module: 'ingress',
  document: { allowed: true, shortName: 'hipeer' },
  spec,
  computed: {
    ingress_ip: {
      doc: 'Public address at which it is reached; empty while unknown.',
      schema: { type: 'string' },
      value: ingressIpOf,
    },
    available_ports: {
      doc: 'Number of free ports.',
      schema: {
        type: 'object',
        required: ['tcp', 'udp'],
        properties: { tcp: { type: 'integer' }, udp: { type: 'integer' } },
      },
      value: countFreePorts,
    },
    connected: {
      doc: 'Whether its peer is connected.',
      schema: { type: 'boolean' },
      value: (object, state) => {
        const peer = object.spec.peer_id ?? '';
        return (state.observed?.(peer) ?? state.get(peer)?.derived)?.['connected'] === true;
      },
    },
  },
  uniques: {
    peer: {
      path: '/peer_id',
      value: (object) => object.spec.peer_id ?? '',
      message: (id) => `an ingress peer on the peer ${id} already exists; change that one`,
    },
  },
  checkState: checkAllocatedInPools,
  inUse: 'in_use',
  activity: { create: 'ingress.peer.create', update: 'ingress.peer.update', delete: 'ingress.peer.delete' },
  activityMeta: (object, state) => ({
    peer_id: object.spec.peer_id ?? '',
    peer_name: state.get(object.spec.peer_id ?? '')?.name ?? '',
  }),
  respond: (body, object, state) => ({ ...body, region: regionOf(object, state) }),
  example: {
    peer_id: 'edge-frankfurt',
    enabled: true,
    fallback: true,
    region: 'DE',
    tcp_pool: { start: 20000, end: 29999 },
    udp_pool: { start: 20000, end: 24999 },
  },
});

/** Checks that allocated ports stay inside the pools. */
function checkAllocatedInPools(ingressPeer: Stored<'IngressPeer'>, state: State): readonly Fault[] {
  return transports.flatMap((transport) => {
    const pool = portRangeOf(ingressPeer, transport);
    const outside = portsOn(ingressPeer, state).filter((port) =>
      mappingsOf(port).some(
        ({ protocol, ingress_start: start, ingress_end: end }) =>
          usesTransport(protocol, transport) && (start < pool.start || end > pool.end),
      ),
    );
    if (outside.length === 0) return [];
    const names = outside.map(({ name }) => `\`${name}\``).join(', ');
    const message = `the ingress ports ${names} would be outside the pool; delete them first, or choose a larger pool`;
    return [{ code: 'pool_in_use', path: `/${transport}_pool`, message }];
  });
}
