import type { Interval } from '../../lib/bits/intervals.ts';
import { emptyMap, type PersistentMap } from '../../lib/persistent-map.ts';
import type { State } from '../declare/kind.ts';
import { inAllocationOrder, mapPieces, mappingsOf, type PortMapping, portsOn } from './ingress-ports.ts';
import { createPortPool, type PortPool } from './port-pool.ts';
import type { Stored } from './stored.ts';

/** Ingress peer that currently forwards an ingress port, and the port mappings that it uses. */
export interface Forwarding {
  readonly ingressPeer: string;
  readonly mappings: readonly PortMapping[];
}

/**
 * By id of an ingress port: the ingress peer that forwards it instead of the ingress peer on which it was allocated.
 */
export type Takeovers = PersistentMap<Forwarding>;

/** No takeovers: every ingress port is forwarded by its own ingress peer. */
export const noTakeovers: Takeovers = emptyMap();

/** Returns how an ingress port is forwarded; `undefined` while it has no ingress peer. */
export function forwardingOf(port: Stored<'IngressPort'>, takeovers: Takeovers): Forwarding | undefined {
  const { ingress_peer_id: ingressPeer } = port.spec;
  if (ingressPeer === undefined) return undefined;
  return takeovers.get(port.id) ?? { ingressPeer, mappings: mappingsOf(port) };
}

/** Current state of the peers on which ingress peers run. */
export interface HostStates {
  isOffline(peer: string): boolean;
  /** Whether the peer is excluded from the mesh although its object is not the reason (endpoint security). */
  isExcluded(peer: string): boolean;
}

/**
 * Returns the ids of the peers whose being offline affects takeovers. Empty while no ingress peer is set to stand in.
 */
export function ingressHosts(state: State): readonly string[] {
  const ingressPeers = state.ofKind('IngressPeer');
  return ingressPeers.some(canTakeOver) ? ingressPeers.map(hostOf) : [];
}

/**
 * Returns the takeovers for ingress peers whose peers are offline. Enabled ingress peers with `fallback` stand in, in
 * the order of their keys, when their peers are online, approved and not excluded by endpoint security. A port keeps
 * its number there when it is free, and otherwise gets another number of the pool, unless the peer requires the same
 * number (`direct_port`). When no stand-in has room, the ingress peer keeps the port. Nothing is stored: every server
 * computes the same result from the same state and the same offline peers.
 */
export function takeoversIn(state: State, { isOffline, isExcluded }: HostStates): Takeovers {
  const ingressPeers = inAllocationOrder(state.ofKind('IngressPeer'));
  const absent = ingressPeers.filter((one) => isOffline(hostOf(one)));
  const standIns = ingressPeers.filter((one) => {
    const host = hostOf(one);
    return canTakeOver(one) && !isOffline(host) && isApproved(host, state) && !isExcluded(host);
  });
  if (absent.length === 0 || standIns.length === 0) return noTakeovers;
  const free = new Map(standIns.map((one) => [one.id, createPortPool(one, portsOn(one, state).flatMap(mappingsOf))]));
  const ports = inAllocationOrder(absent.flatMap((one) => portsOn(one, state))).filter(
    ({ spec }) => spec.enabled === true,
  );
  return noTakeovers.edit((found) => {
    // Ports that keep their numbers are placed first, so that no other port takes these numbers.
    for (const mayMove of [false, true]) {
      for (const port of ports) {
        const taken = found.get(port.id) ?? findTakeover(port, free, mayMove);
        if (taken !== undefined) found.set(port.id, taken);
      }
    }
  });
}

/** Assigns the port to the first stand-in with room. `free`: remaining ports of the stand-ins. */
function findTakeover(
  port: Stored<'IngressPort'>,
  free: ReadonlyMap<string, PortPool>,
  mayMove: boolean,
): Forwarding | undefined {
  for (const [ingressPeer, pool] of free) {
    const mappings = allocatePorts(port, pool, mayMove && port.spec.direct_port === undefined);
    if (mappings !== undefined) return { ingressPeer, mappings };
  }
  return undefined;
}

function canTakeOver({ spec }: Stored<'IngressPeer'>): boolean {
  return spec.enabled === true && spec.fallback === true;
}

/** Whether a peer is approved. A peer that waits for approval takes no part in the mesh, even when it is connected. */
function isApproved(id: string, state: State): boolean {
  const peer = state.find('Peer', id);
  return peer !== undefined && peer.spec.approval_required !== true;
}

function hostOf({ spec }: Stored<'IngressPeer'>): string {
  return spec.peer_id ?? '';
}

/**
 * Takes the numbers that an ingress port needs on another ingress peer. Returns `undefined`, and takes none, when there
 * is not enough room.
 */
function allocatePorts(
  port: Stored<'IngressPort'>,
  pool: PortPool,
  mayMove: boolean,
): readonly PortMapping[] | undefined {
  const mappings = mappingsOf(port);
  const pieces: (readonly Interval[])[] = [];
  const take = (at: number, { protocol }: PortMapping, numbers: readonly Interval[]): void => {
    pieces[at] = numbers;
    pool.take(protocol, numbers);
  };
  for (const [at, mapping] of mappings.entries()) {
    const same = { start: mapping.ingress_start, end: mapping.ingress_end };
    if (pool.isFree(mapping.protocol, same)) take(at, mapping, [same]);
  }
  for (const [at, mapping] of mappings.entries()) {
    if (pieces[at] !== undefined) continue;
    const count = mapping.ingress_end - mapping.ingress_start + 1;
    const others = mayMove ? pool.findLowestFree(mapping.protocol, count) : undefined;
    if (others === undefined) {
      for (const [taken, { protocol }] of mappings.entries()) pool.release(protocol, pieces[taken] ?? []);
      return undefined;
    }
    take(at, mapping, others);
  }
  return mappings.flatMap(({ translated_start: start, protocol }, at) =>
    mapPieces({ start, protocol }, pieces[at] ?? []),
  );
}
