import type { Interval } from '../../lib/bits/intervals.ts';
import { emptyMap, type PersistentMap } from '../../lib/persistent-map.ts';
import type { State } from '../declare/kind.ts';
import { inPortOrder, mapPieces, mappingsOf, type PortMapping, portsOn } from './ingress-ports.ts';
import { createPortPool, type PortPool } from './port-pool.ts';
import type { Stored } from './stored.ts';

/** Which ingress peer forwards an ingress port at the moment, and by which of its ports. */
export interface Forwarding {
  readonly ingressPeer: string;
  readonly mappings: readonly PortMapping[];
}

/** By id of the ingress port: who forwards it in place of the ingress peer that it was allocated on. */
export type Takeovers = PersistentMap<Forwarding>;

/** Every ingress port is forwarded by its own ingress peer. */
export const noTakeovers: Takeovers = emptyMap();

/** How an ingress port is forwarded; nothing while it is not allocated. */
export function forwardingOf(port: Stored<'IngressPort'>, takeovers: Takeovers): Forwarding | undefined {
  const { ingress_peer_id: ingressPeer } = port.spec;
  if (ingressPeer === undefined) return undefined;
  return takeovers.get(port.id) ?? { ingressPeer, mappings: mappingsOf(port) };
}

/** What is known at the moment about the peers that ingress peers are on. */
export interface HostsNow {
  isOffline(peer: string): boolean;
  /** Whether it takes no part in the mesh though its object says nothing against it. */
  isKeptOut(peer: string): boolean;
}

/** The peers on which it depends who forwards what, when they are offline. */
export function ingressHosts(state: State): readonly string[] {
  const ingressPeers = state.ofKind('IngressPeer');
  return ingressPeers.some(standsIn) ? ingressPeers.map(hostOf) : [];
}

/**
 * Who stands in for the ingress peers whose peers are offline: the enabled ones with `fallback` that are online, approved and not
 * kept out by endpoint security, in the order of their keys. A port has the same number there if that is free, otherwise another one of the pool, unless its number has
 * to be that of the peer. Where nobody has room the ingress peer keeps the port. Nothing is stored: the same state and the
 * same absences give the same answer everywhere.
 */
export function takeoversIn(state: State, { isOffline, isKeptOut }: HostsNow): Takeovers {
  const ingressPeers = inPortOrder(state.ofKind('IngressPeer'));
  const absent = ingressPeers.filter((one) => isOffline(hostOf(one)));
  const standIns = ingressPeers.filter((one) => {
    const host = hostOf(one);
    return standsIn(one) && !isOffline(host) && isApproved(host, state) && !isKeptOut(host);
  });
  if (absent.length === 0 || standIns.length === 0) return noTakeovers;
  const free = new Map(standIns.map((one) => [one.id, createPortPool(one, portsOn(one, state).flatMap(mappingsOf))]));
  const ports = inPortOrder(absent.flatMap((one) => portsOn(one, state))).filter(({ spec }) => spec.enabled === true);
  return noTakeovers.edit((found) => {
    // Ports that keep their numbers go first, so that no other gets these.
    for (const mayMove of [false, true]) {
      for (const port of ports) {
        const taken = found.get(port.id) ?? takeOver(port, free, mayMove);
        if (taken !== undefined) found.set(port.id, taken);
      }
    }
  });
}

/** The first that has room forwards the port; `free` is what is left of those that stand in. */
function takeOver(
  port: Stored<'IngressPort'>,
  free: ReadonlyMap<string, PortPool>,
  mayMove: boolean,
): Forwarding | undefined {
  for (const [ingressPeer, pool] of free) {
    const mappings = place(port, pool, mayMove && port.spec.direct_port === undefined);
    if (mappings !== undefined) return { ingressPeer, mappings };
  }
  return undefined;
}

function standsIn({ spec }: Stored<'IngressPeer'>): boolean {
  return spec.enabled === true && spec.fallback === true;
}

/** A peer that waits for approval takes no part in the mesh, connected or not. */
function isApproved(id: string, state: State): boolean {
  const peer = state.find('Peer', id);
  return peer !== undefined && peer.spec.approval_required !== true;
}

function hostOf({ spec }: Stored<'IngressPeer'>): string {
  return spec.peer_id ?? '';
}

/** Takes the ports that a port needs on another ingress peer; nothing, and none, when there is no room. */
function place(port: Stored<'IngressPort'>, pool: PortPool, mayMove: boolean): readonly PortMapping[] | undefined {
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
    const others = mayMove ? pool.lowest(mapping.protocol, count) : undefined;
    if (others === undefined) {
      for (const [taken, { protocol }] of mappings.entries()) pool.giveBack(protocol, pieces[taken] ?? []);
      return undefined;
    }
    take(at, mapping, others);
  }
  return mappings.flatMap(({ translated_start: start, protocol }, at) =>
    mapPieces({ start, protocol }, pieces[at] ?? []),
  );
}
