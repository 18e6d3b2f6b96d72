import { countNumbers, type Interval, joinIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { State } from '../../model/declare/kind.ts';
import type { Stored } from '../../model/state/stored.ts';

/** The protocols that ports are forwarded for. `tcp/udp` takes the same number in both. */
export const ingressProtocols = ['tcp', 'udp', 'tcp/udp'] as const;
export type IngressProtocol = (typeof ingressProtocols)[number];

/** The two pools of an ingress peer. */
export const transports = ['tcp', 'udp'] as const;
export type Transport = (typeof transports)[number];

/** Ports of a peer and the ports of its ingress peer that lead there, one to one. */
export type PortMapping = {
  readonly translated_start: number;
  readonly translated_end: number;
  readonly ingress_start: number;
  readonly ingress_end: number;
  readonly protocol: IngressProtocol;
};

/** Free port numbers, by transport. */
export type FreePorts = Readonly<Record<Transport, readonly Interval[]>>;

/** What was allocated to an ingress port. */
export function mappingsOf(port: Stored<'IngressPort'>): readonly PortMapping[] {
  // Only `allocate` writes the member.
  return port.derived.port_range_mappings ?? [];
}

/** The ports of an ingress peer that these mappings leave free. */
export function freePorts(ingressPeer: Stored<'IngressPeer'>, mappings: readonly PortMapping[]): FreePorts {
  const free = (transport: Transport) => {
    const taken = mappings
      .filter(({ protocol }) => usesTransport(protocol, transport))
      .map(({ ingress_start: start, ingress_end: end }) => ({ start, end }));
    return subtractIntervals([poolOf(ingressPeer, transport)], joinIntervals(taken));
  };
  return { tcp: free('tcp'), udp: free('udp') };
}

/** How many ports of an ingress peer are free. */
export function countFree(ingressPeer: Stored<'IngressPeer'>, state: State): Readonly<Record<Transport, number>> {
  const free = freePorts(ingressPeer, portsOn(ingressPeer, state).flatMap(mappingsOf));
  return { tcp: countNumbers(free.tcp), udp: countNumbers(free.udp) };
}

/** The ports that an ingress peer gives away. */
export function poolOf(ingressPeer: Stored<'IngressPeer'>, transport: Transport): Interval {
  const { start = 0, end = 0 } = ingressPeer.spec[`${transport}_pool`] ?? {};
  return { start, end };
}

/** The ingress ports that an ingress peer serves. */
export function portsOn(ingressPeer: Stored<'IngressPeer'>, state: State): readonly Stored<'IngressPort'>[] {
  return state.referrersBy('IngressPort', 'ingress_peer_id', ingressPeer.id);
}

export function usesTransport(protocol: IngressProtocol, transport: Transport): boolean {
  return protocol === transport || protocol === 'tcp/udp';
}

/** Where an ingress peer is: the label that it was given, else the country of its peer. */
export function regionOf(ingressPeer: Stored<'IngressPeer'>, state: State): string {
  return ingressPeer.spec.region || countryOf(state.find('Peer', ingressPeer.spec.peer_id ?? ''));
}

/** The country of a peer, empty while it is unknown. */
export function countryOf(peer: Stored<'Peer'> | undefined): string {
  return (peer === undefined ? undefined : peer.derived.country_code) ?? '';
}

/** The address at which an ingress peer is reached from outside, empty while it is unknown. */
export function ingressIpOf(ingressPeer: Stored<'IngressPeer'>, state: State): string {
  const peer = state.find('Peer', ingressPeer.spec.peer_id ?? '');
  return (peer === undefined ? undefined : peer.derived.connection_ip) ?? '';
}
