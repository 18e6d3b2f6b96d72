import { takeNumbers } from '../../lib/bits/intervals.ts';
import { equalJson } from '../../lib/json.ts';
import type { DerivedChange, Fault, State, Step } from '../../model/declare/kind.ts';
import {
  type FreePorts,
  freeFor,
  freePorts,
  type IngressProtocol,
  inPortOrder,
  mapPieces,
  mappingsOf,
  type PortMapping,
  portsOn,
  withoutPorts,
} from '../../model/state/ingress-ports.ts';
import type { Forwarding } from '../../model/state/ingress-takeovers.ts';
import type { Stored } from '../../model/state/stored.ts';
import { countryOf, regionOf } from '../shared/ingress.ts';

/** Ports that an ingress port asks for; without `start` they have the numbers of the ingress peer. */
interface PortRange {
  readonly start?: number;
  readonly count: number;
  readonly protocol: IngressProtocol;
}

/** Gives an ingress port what it asks for. What it has stays as long as it asks for it. */
export function settlePorts({ after }: Step<Stored<'IngressPort'>>, state: State): readonly DerivedChange[] {
  if (after === undefined) return [];
  const allocation = allocationsIn(state).get(after.id);
  if (allocation === undefined) return [];
  const { ingressPeer, mappings } = allocation;
  return [
    {
      change: after,
      spec: { ...after.spec, ingress_peer_id: ingressPeer },
      derived: { port_range_mappings: mappings },
    },
  ];
}

/** Whatever found no free ports is refused. */
export function checkAllocated(port: Stored<'IngressPort'>, state: State): readonly Fault[] {
  if (isSettled(port, state)) return [];
  const message =
    candidates(port, state).length === 0
      ? 'no ingress peer serves the region of this peer, and none is a fallback; add one or enable one'
      : 'no ingress peer that serves this peer has so many free ports; delete ingress ports, enlarge the pool or add an ingress peer';
  return [{ code: 'nothing_free', path: '', message }];
}

const known = new WeakMap<State, ReadonlyMap<string, Forwarding>>();

/**
 * What every ingress port gets that lacks something. They are served one after the other, in the order of their keys, so
 * that several of one plan never get the same ports.
 */
function allocationsIn(state: State): ReadonlyMap<string, Forwarding> {
  const present = known.get(state);
  if (present !== undefined) return present;
  const made = new Map<string, Forwarding>();
  const waiting = state.ofKind('IngressPort').filter((port) => !isSettled(port, state));
  for (const port of inPortOrder(waiting)) {
    const allocation = allocate(port, state, made);
    if (allocation !== undefined) made.set(port.id, allocation);
  }
  known.set(state, made);
  return made;
}

function allocate(
  port: Stored<'IngressPort'>,
  state: State,
  made: ReadonlyMap<string, Forwarding>,
): Forwarding | undefined {
  const ranges = rangesOf(port);
  const own = state.find('IngressPeer', port.spec.ingress_peer_id ?? '');
  for (const ingressPeer of own === undefined ? candidates(port, state) : [own, ...candidates(port, state)]) {
    const kept = ranges.map((range) => (ingressPeer === own ? keptOf(range, port) : []));
    // A disabled one forwards what it does, and nothing more.
    if (ingressPeer.spec.enabled !== true && kept.some((pieces) => pieces.length === 0)) continue;
    const taken = takenOn(ingressPeer, state, made, port);
    const mappings = fulfil(ranges, kept, freePorts(ingressPeer, [...taken, ...kept.flat()]));
    if (mappings !== undefined) return { ingressPeer: ingressPeer.id, mappings };
  }
  return undefined;
}

/** What the other ingress ports have, those included that were served before in this very step. */
function takenOn(
  ingressPeer: Stored<'IngressPeer'>,
  state: State,
  made: ReadonlyMap<string, Forwarding>,
  port: Stored<'IngressPort'>,
): readonly PortMapping[] {
  const stored = portsOn(ingressPeer, state).filter(({ id }) => id !== port.id && !made.has(id));
  const fresh = [...made.values()].filter((allocation) => allocation.ingressPeer === ingressPeer.id);
  return [...stored.flatMap(mappingsOf), ...fresh.flatMap(({ mappings }) => mappings)];
}

/** Mappings for every range, in their order, or `undefined`. Ports that must be free twice are chosen first. */
function fulfil(
  ranges: readonly PortRange[],
  kept: readonly (readonly PortMapping[])[],
  free: FreePorts,
): readonly PortMapping[] | undefined {
  const found: (readonly PortMapping[])[] = [...kept];
  let left = free;
  const order = [...ranges.keys()].sort((a, b) => Number(isSingle(ranges[a])) - Number(isSingle(ranges[b])));
  for (const at of order) {
    const range = ranges[at];
    if (range === undefined || (kept[at] ?? []).length > 0) continue;
    const pieces = takeNumbers(freeFor(range.protocol, left), range.count);
    if (pieces === undefined) return undefined;
    found[at] = mapPieces(range, pieces);
    left = withoutPorts(left, range.protocol, pieces);
  }
  return found.flat();
}

function isSingle(range: PortRange | undefined): boolean {
  return range?.protocol !== 'tcp/udp';
}

/** The enabled ingress peers that may serve an ingress port: those of its region, else the fallback ones. */
function candidates(port: Stored<'IngressPort'>, state: State): readonly Stored<'IngressPeer'>[] {
  const enabled = state.ofKind('IngressPeer').filter(({ spec }) => spec.enabled === true);
  const region = countryOf(state.find('Peer', port.parent ?? '')).toLowerCase();
  const near = enabled.filter((ingressPeer) => region !== '' && regionOf(ingressPeer, state).toLowerCase() === region);
  const serving = near.length > 0 ? near : enabled.filter(({ spec }) => spec.fallback === true);
  return inPortOrder(serving);
}

/** Whether an ingress port has what it asks for, and nothing else. */
function isSettled(port: Stored<'IngressPort'>, state: State): boolean {
  if (state.get(port.spec.ingress_peer_id ?? '') === undefined) return false;
  const kept = rangesOf(port).map((range) => keptOf(range, port));
  return kept.every((pieces) => pieces.length > 0) && equalJson(kept.flat(), mappingsOf(port));
}

/** The mappings that an ingress port has for a range, when they are all of it. */
function keptOf({ start, count, protocol }: PortRange, port: Stored<'IngressPort'>): readonly PortMapping[] {
  const pieces = mappingsOf(port).filter(
    (mapping) =>
      mapping.protocol === protocol &&
      (start === undefined
        ? mapping.translated_start === mapping.ingress_start
        : mapping.translated_start >= start && mapping.translated_end < start + count),
  );
  const sum = pieces.reduce((total, piece) => total + piece.translated_end - piece.translated_start + 1, 0);
  return sum === count ? pieces : [];
}

function rangesOf(port: Stored<'IngressPort'>): readonly PortRange[] {
  const { port_ranges: ranges = [], direct_port: direct } = port.spec;
  if (direct !== undefined) return [{ count: direct.count ?? 0, protocol: direct.protocol ?? 'tcp' }];
  return ranges.map(({ start = 0, end = 0, protocol = 'tcp' }) => ({ start, count: end - start + 1, protocol }));
}
