import { type Interval, intersectIntervals, mergeIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { State } from '../declare/kind.ts';
import type { Stored } from './stored.ts';

/** Protocols for which ports are forwarded. `tcp/udp` uses the same number for both. */
export const ingressProtocols = ['tcp', 'udp', 'tcp/udp'] as const;
export type IngressProtocol = (typeof ingressProtocols)[number];

/** Transports, for each of which an ingress peer has a pool of ports. */
export const transports = ['tcp', 'udp'] as const;
export type Transport = (typeof transports)[number];

/**
 * Ports of a peer (`translated_*`) and the ports of its ingress peer that are forwarded to them (`ingress_*`), one to
 * one.
 */
export type PortMapping = {
  readonly translated_start: number;
  readonly translated_end: number;
  readonly ingress_start: number;
  readonly ingress_end: number;
  readonly protocol: IngressProtocol;
};

/** Free port numbers, by transport. */
export type FreePorts = Readonly<Record<Transport, readonly Interval[]>>;

/** Returns the port mappings that were allocated to an ingress port. */
export function mappingsOf(port: Stored<'IngressPort'>): readonly PortMapping[] {
  // Only the allocation writes this member.
  return port.derived.port_range_mappings ?? [];
}

/** Returns the ports of an ingress peer that these mappings leave free. */
export function freePorts(ingressPeer: Stored<'IngressPeer'>, mappings: readonly PortMapping[]): FreePorts {
  const free = (transport: Transport) => {
    const taken = mappings
      .filter(({ protocol }) => usesTransport(protocol, transport))
      .map(({ ingress_start: start, ingress_end: end }) => ({ start, end }));
    return subtractIntervals([portRangeOf(ingressPeer, transport)], mergeIntervals(taken));
  };
  return { tcp: free('tcp'), udp: free('udp') };
}

/** Returns the range of ports that an ingress peer allocates from. */
export function portRangeOf(ingressPeer: Stored<'IngressPeer'>, transport: Transport): Interval {
  const { start = 0, end = 0 } = ingressPeer.spec[`${transport}_pool`] ?? {};
  return { start, end };
}

/** Returns the ingress ports that are allocated on an ingress peer. */
export function portsOn(ingressPeer: Stored<'IngressPeer'>, state: State): readonly Stored<'IngressPort'>[] {
  return state.referrersBy('IngressPort', 'ingress_peer_id', ingressPeer.id);
}

export function usesTransport(protocol: IngressProtocol, transport: Transport): boolean {
  return protocol === transport || protocol === 'tcp/udp';
}

/** Returns the port numbers that are free for a protocol. */
export function freeFor(protocol: IngressProtocol, free: FreePorts): readonly Interval[] {
  return protocol === 'tcp/udp' ? intersectIntervals(free.tcp, free.udp) : free[protocol];
}

/**
 * Maps the ports of a peer, counted from `start`, to these ingress ports. Without `start`, both sides have the same
 * numbers.
 */
export function mapPieces(
  { start, protocol }: { readonly start?: number; readonly protocol: IngressProtocol },
  pieces: readonly Interval[],
): readonly PortMapping[] {
  let next = start;
  return pieces.map((piece) => {
    const from = next ?? piece.start;
    const to = from + piece.end - piece.start;
    if (next !== undefined) next = to + 1;
    return {
      translated_start: from,
      translated_end: to,
      ingress_start: piece.start,
      ingress_end: piece.end,
      protocol,
    };
  });
}

/**
 * Sorts objects into the order in which they are allocated ports, which is the same on all servers: by key, or by id
 * without a key.
 */
export function inAllocationOrder<T extends { readonly key?: string; readonly id: string }>(
  objects: readonly T[],
): readonly T[] {
  return [...objects].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ key, id }: { readonly key?: string; readonly id: string }): string {
  return key ?? id;
}
