import { countNumbers, type Interval, joinIntervals, subtractIntervals } from '../../lib/intervals.ts';
import type { State } from '../../model/kind.ts';
import type { StoredObject } from '../../model/object.ts';
import { derivedText, sectionOf, textOf } from './stored.ts';

/** The protocols that ports are forwarded for. `tcp/udp` takes the same number in both. */
export const ingressProtocols = ['tcp', 'udp', 'tcp/udp'] as const;
export type IngressProtocol = (typeof ingressProtocols)[number];

/** The two pools of an ingress peer. */
export const transports = ['tcp', 'udp'] as const;
export type Transport = (typeof transports)[number];

/** Ports of a peer and the ports of its ingress peer that lead there, one to one. */
export interface PortMapping {
  readonly translated_start: number;
  readonly translated_end: number;
  readonly ingress_start: number;
  readonly ingress_end: number;
  readonly protocol: IngressProtocol;
}

/** Free port numbers, by transport. */
export type FreePorts = Readonly<Record<Transport, readonly Interval[]>>;

/** What was allocated to an ingress port. */
export function mappingsOf(port: StoredObject): readonly PortMapping[] {
  // Only `allocate` writes the member.
  return (port.derived['port_range_mappings'] ?? []) as unknown as readonly PortMapping[];
}

/** The ports of an ingress peer that these mappings leave free. */
export function freePorts(ingressPeer: StoredObject, mappings: readonly PortMapping[]): FreePorts {
  const free = (transport: Transport) => {
    const taken = mappings
      .filter(({ protocol }) => usesTransport(protocol, transport))
      .map(({ ingress_start: start, ingress_end: end }) => ({ start, end }));
    return subtractIntervals([poolOf(ingressPeer, transport)], joinIntervals(taken));
  };
  return { tcp: free('tcp'), udp: free('udp') };
}

/** How many ports of an ingress peer are free. */
export function countFree(ingressPeer: StoredObject, state: State): Readonly<Record<Transport, number>> {
  const free = freePorts(ingressPeer, portsOn(ingressPeer, state).flatMap(mappingsOf));
  return { tcp: countNumbers(free.tcp), udp: countNumbers(free.udp) };
}

/** The ports that an ingress peer gives away. */
export function poolOf(ingressPeer: StoredObject, transport: Transport): Interval {
  // The declaration of the kind gives every pool both ends.
  return sectionOf(ingressPeer, `${transport}_pool`) as unknown as Interval;
}

/** The ingress ports that an ingress peer serves. */
export function portsOn(ingressPeer: StoredObject, state: State): readonly StoredObject[] {
  return state
    .referrersOf(ingressPeer.id)
    .filter(({ field }) => field === 'ingress_peer_id')
    .map(({ from }) => from);
}

export function usesTransport(protocol: IngressProtocol, transport: Transport): boolean {
  return protocol === transport || protocol === 'tcp/udp';
}

/** Where an ingress peer is: the label that it was given, else the country of its peer. */
export function regionOf(ingressPeer: StoredObject, state: State): string {
  return textOf(ingressPeer, 'region') || countryOf(state.get(textOf(ingressPeer, 'peer_id')));
}

/** The country of a peer, empty while nobody knows. */
export function countryOf(peer: StoredObject | undefined): string {
  return (peer === undefined ? undefined : derivedText(peer, 'country_code')) ?? '';
}

/** The address at which an ingress peer is reached from outside, empty while nobody knows. */
export function ingressIpOf(ingressPeer: StoredObject, state: State): string {
  const peer = state.get(textOf(ingressPeer, 'peer_id'));
  return (peer === undefined ? undefined : derivedText(peer, 'connection_ip')) ?? '';
}
