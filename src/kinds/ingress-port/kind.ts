import { defineKind, type Fault } from '../../model/declare/kind.ts';
import {
  boolean,
  integer,
  list,
  maxEntries,
  maxLengths,
  object,
  oneOf,
  ref,
  string,
} from '../../model/schema/field.ts';
import {
  type IngressProtocol,
  ingressProtocols,
  type PortMapping,
  transports,
  usesTransport,
} from '../../model/state/ingress-ports.ts';
import type { Stored } from '../../model/state/stored.ts';
import { findForwarder, forwardingIn, ingressIpOf, regionOf } from '../shared/ingress.ts';
import { assignPorts, checkAllocated } from './allocate.ts';

const portNumber = (doc: string) => integer({ doc, required: true, minimum: 1, maximum: 65535 });
const protocol = () =>
  oneOf(ingressProtocols, { doc: 'The protocol; `tcp/udp` takes the same port for both.', required: true });

const risingRange = { rule: 'rising', members: ['start', 'end'], code: 'port_range_invalid', at: '' } as const;

const mappingMembers = ['translated_start', 'translated_end', 'ingress_start', 'ingress_end'];

const spec = {
  peer: ref('Peer', { doc: 'The peer that the ports belong to.', required: true }),
  name: string({
    doc: 'The name people see. Unique among the ingress ports of the peer.',
    maxLength: maxLengths.name,
    required: true,
    minLength: 1,
  }),
  enabled: boolean({
    doc: 'Whether the ports are forwarded. They stay allocated while this is false.',
    required: true,
    documentDefault: true,
  }),
  port_ranges: list(
    object(
      { start: portNumber('The first port.'), end: portNumber('The last port.'), protocol: protocol() },
      { doc: 'Ports of the peer.', rules: [risingRange] },
    ),
    {
      doc: 'Ports of the peer to forward to. Give either this or `direct_port`.',
      maxItems: maxEntries,
      keptOnReplace: true,
      alternativeField: 'direct_port',
      hidden: true,
    },
  ),
  direct_port: object(
    {
      count: integer({ doc: 'Number of ports.', required: true, minimum: 1, maximum: 65535 }),
      protocol: protocol(),
    },
    {
      doc: 'Ports with the same numbers on the peer and on the ingress peer, chosen at allocation. Give either this or `port_ranges`.',
      keptOnReplace: true,
      alternativeField: 'port_ranges',
      hidden: true,
      atomic: true,
    },
  ),
  ingress_peer_id: ref('IngressPeer', {
    doc: 'The ingress peer on which the ports are allocated. While it is offline, another one may forward them.',
    access: 'server',
  }),
};

declare module '../../model/state/stored.ts' {
  interface KindTypes {
    IngressPort: { fields: typeof spec; derived: IngressPortDerived };
  }
}

/** Ports that were allocated to an ingress port. */
interface IngressPortDerived {
  readonly port_range_mappings: readonly PortMapping[];
}

export const ingressPort = defineKind({
  name: 'IngressPort',
  doc: 'Ports of a peer that are reached from outside the mesh through an ingress peer. Hosted edition only.',
  path: '/api/peers/{peerId}/ingress/ports',
  idParameter: 'allocationId',
  edition: 'hosted',
  observed: 'peers',
  module: 'ingress',
  document: { allowed: true, shortName: 'hiport' },
  parent: { kind: 'Peer', field: 'peer', holds: true },
  spec,
  naturalKey: ({ name }) => name,
  filters: {
    name: { doc: 'Only the ingress port with exactly this name.', matches: ({ name }, value) => name === value },
  },
  computed: {
    region: {
      doc: 'The region of the ingress peer that forwards the ports.',
      schema: { type: 'string' },
      value: (object, state) => {
        const ingressPeer = findForwarder(object, state);
        return ingressPeer === undefined ? '' : regionOf(ingressPeer, state);
      },
    },
    ingress_ip: {
      doc: 'Address of the ingress peer that currently forwards the ports; empty while unknown.',
      schema: { type: 'string' },
      value: (object, state) => {
        const ingressPeer = findForwarder(object, state);
        return ingressPeer === undefined ? '' : ingressIpOf(ingressPeer, state);
      },
    },
    port_range_mappings: {
      doc: 'Mapping of ports of the ingress peer that forwards them to ports of the peer, one to one.',
      schema: {
        type: 'array',
        items: {
          type: 'object',
          required: [...mappingMembers, 'protocol'],
          properties: {
            ...Object.fromEntries(mappingMembers.map((name) => [name, { type: 'integer' }])),
            protocol: { type: 'string', enum: ingressProtocols },
          },
        },
      },
      value: (object, state) => (forwardingIn(object, state)?.mappings ?? []).map((mapping) => ({ ...mapping })),
    },
  },
  uniques: {
    name: {
      path: '/name',
      value: (object) => `${peerIdOf(object)}/${object.name}`,
      message: (value) =>
        `an ingress port with the name \`${value.slice(value.indexOf('/') + 1)}\` already exists on this peer; choose another name`,
    },
  },
  rules: [
    { rule: 'exactlyOne', members: ['port_ranges', 'direct_port'], code: 'ingress_port_exclusive', at: 'direct_port' },
  ],
  check: checkRanges,
  checkState: checkAllocated,
  derivedChanges: assignPorts,
  activity: { create: 'ingress.port.create', update: 'ingress.port.update', delete: 'ingress.port.delete' },
  activityMeta: (object, state) => ({
    name: object.name,
    peer_id: peerIdOf(object),
    peer_name: state.get(peerIdOf(object))?.name ?? '',
  }),
  example: {
    peer: 'build-server',
    name: 'web',
    enabled: true,
    port_ranges: [
      { start: 8443, end: 8443, protocol: 'tcp' },
      { start: 51820, end: 51829, protocol: 'udp' },
    ],
  },
});

function peerIdOf(port: Stored<'IngressPort'>): string {
  return port.parent ?? '';
}

/** Range of ports of the peer. */
export interface PortRange {
  readonly start: number;
  readonly end: number;
  readonly protocol: IngressProtocol;
}

/** Ports that an ingress port asks for. */
interface PortsSpec {
  readonly port_ranges: readonly PortRange[];
}

/** Checks that no port is requested twice. */
function checkRanges({ port_ranges: ranges }: PortsSpec): readonly Fault[] {
  return transports.flatMap((transport) => checkDuplicatePorts(ranges, transport));
}

function checkDuplicatePorts(ranges: readonly PortRange[], transport: 'tcp' | 'udp'): readonly Fault[] {
  const sorted = ranges
    .map((range, at) => ({ ...range, at }))
    .filter(({ protocol }) => usesTransport(protocol, transport))
    .sort((a, b) => a.start - b.start);
  return sorted.flatMap(({ start, at }, index) => {
    const before = sorted[index - 1];
    if (before === undefined || before.end < start) return [];
    const message = `the port ${start} (${transport}) is already in the range ${before.start}–${before.end}; request each port only once`;
    return [{ code: 'port_repeated', path: `/port_ranges/${at}`, message }];
  });
}
