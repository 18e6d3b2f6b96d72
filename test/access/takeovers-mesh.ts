import type { AccessImage } from '../../src/access/ruleset/access.ts';
import { noObservations, type ObservedPeers } from '../../src/access/ruleset/facts.ts';
import { createAccessImages } from '../../src/commit/access-images.ts';
import { forwardingOf } from '../../src/model/state/ingress-takeovers.ts';
import type { StoredObject } from '../../src/model/state/object.ts';
import type { Snapshot } from '../../src/model/state/snapshot.ts';
import { group, stored } from '../kinds/objects.ts';
import type { Change } from './account.ts';
import { snapshotOf } from './image.ts';

export const hosts = ['p1', 'p2', 'p3'];
const ports = [
  ['e1', 'p1'],
  ['e2', 'p2'],
  ['e3', 'p3'],
] as const;

export const aPeer = (id: string, waits = false) =>
  stored('Peer', id, { name: id, dns_label: id, approval_required: waits });

export const gateway = (host: string, fallback = true) =>
  stored('IngressPeer', `gate-${host}`, { peer_id: host, enabled: true, fallback });

const port = (id: string, host: string) => {
  const number = 20000 + Number(id.slice(1));
  const mapped = {
    translated_start: 22,
    translated_end: 22,
    ingress_start: number,
    ingress_end: number,
    protocol: 'tcp',
  };
  const spec = { peer: 'p4', name: id, enabled: true, ingress_peer_id: `gate-${host}` };
  return stored('IngressPort', id, spec, { parent: 'p4', derived: { port_range_mappings: [mapped] } });
};

export const validator = (groups: readonly string[], enabled = true) =>
  stored('EdrVendorA', 'edr', { api_url: 'https://edr.example.com', enabled, groups });

/**
 * Three ingress peers that can replace each other, each with an ingress port of p4, and an endpoint security
 * integration for their group.
 */
export const mesh = [
  ...[...hosts, 'p4'].map((id) => aPeer(id)),
  ...hosts.map((host) => gateway(host)),
  ...ports.map(([id, host]) => port(id, host)),
  group('g1', hosts),
  validator(['g1']),
];

export function put(...objects: readonly StoredObject[]): Change {
  return { put: objects, remove: [] };
}

export function observe(
  offline: readonly string[],
  denied: readonly string[],
  deciding: string | undefined = '',
): ObservedPeers {
  return {
    ...noObservations,
    offline: new Set(offline),
    verdicts: {
      deciding: new Map(deciding === undefined ? [] : [['edr', deciding]]),
      problemsByPeer: new Map(hosts.map((id) => [id, { edr: denied.includes(id) ? 'the firewall is off' : '' }])),
    },
  };
}

/** Returns the forwarding of each ingress port according to an image. */
export function forwarders(state: Snapshot, { takeovers }: AccessImage) {
  return state.ofKind('IngressPort').map((one) => forwardingOf(one, takeovers));
}

/** Returns a function that applies a change to an image incrementally, as a server does. */
export function openImage(objects: readonly StoredObject[], observed: ObservedPeers) {
  const images = createAccessImages();
  let state = snapshotOf(objects);
  return async (change: Change, now = observed) => {
    state = state.with(change, state.revision + 1);
    images.setObservationSource({ read: async () => now });
    const access = await images.current(state);
    return { state, access, now };
  };
}
