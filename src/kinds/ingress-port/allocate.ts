import type { Interval } from '../../lib/bits/intervals.ts';
import { equalJson } from '../../lib/json.ts';
import type { Fault, State } from '../../model/declare/kind.ts';
import type { DerivedChange, ObjectChange } from '../../model/declare/mutation.ts';
import {
  type IngressProtocol,
  inAllocationOrder,
  mapPieces,
  mappingsOf,
  type PortMapping,
  portsOn,
} from '../../model/state/ingress-ports.ts';
import type { Forwarding } from '../../model/state/ingress-takeovers.ts';
import { createPortPool, type PortPool } from '../../model/state/port-pool.ts';
import type { Stored } from '../../model/state/stored.ts';
import { countryOf, regionOf } from '../shared/ingress.ts';

/** Ports that an ingress port asks for. Without `start` they have the same numbers as on the ingress peer. */
interface PortRange {
  readonly start?: number;
  readonly count: number;
  readonly protocol: IngressProtocol;
}

/** Allocates the ports that an ingress port asks for. It keeps allocated ports for as long as it asks for them. */
export function assignPorts({ after }: ObjectChange<Stored<'IngressPort'>>, state: State): readonly DerivedChange[] {
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

/** Refuses ingress ports for which no free ports were found. */
export function checkAllocated(port: Stored<'IngressPort'>, state: State): readonly Fault[] {
  if (hasRequestedPorts(port, state)) return [];
  const message =
    candidates(port, state).length === 0
      ? 'no enabled ingress peer serves the region of this peer or is a fallback; add one or enable one'
      : 'no ingress peer that serves this peer has enough free ports; delete ingress ports, enlarge the pool or add an ingress peer';
  return [{ code: 'nothing_free', path: '', message }];
}

const allocationCache = new WeakMap<State, ReadonlyMap<string, Forwarding>>();

/**
 * Returns the allocations of all ingress ports that lack something. Ports are served one by one, in the order of their
 * keys, so that several ingress ports of one plan never get the same ports.
 */
function allocationsIn(state: State): ReadonlyMap<string, Forwarding> {
  const present = allocationCache.get(state);
  if (present !== undefined) return present;
  const made = new Map<string, Forwarding>();
  const waiting = state.ofKind('IngressPort').filter((port) => !hasRequestedPorts(port, state));
  const ledger = openLedger(state, waiting, made);
  for (const port of inAllocationOrder(waiting)) {
    const allocation = allocate(port, state, ledger);
    if (allocation !== undefined) made.set(port.id, allocation);
  }
  allocationCache.set(state, made);
  return made;
}

/** Free ports of ingress peers during allocation. Each ingress peer is read only once. */
interface Ledger {
  poolOf(ingressPeer: Stored<'IngressPeer'>): PortPool;
  /** Marks the current ports of an ingress port as taken until it is served. */
  hold(port: Stored<'IngressPort'>, pool: PortPool): void;
  release(port: Stored<'IngressPort'>, pool: PortPool): void;
}

function openLedger(
  state: State,
  waiting: readonly Stored<'IngressPort'>[],
  made: ReadonlyMap<string, Forwarding>,
): Ledger {
  const isWaiting = new Set(waiting.map(({ id }) => id));
  const pools = new Map<string, PortPool>();
  const held = new Map<string, readonly PortMapping[]>();
  const hold: Ledger['hold'] = (port, pool) => void held.set(port.id, takeFree(pool, mappingsOf(port)));
  return {
    hold,
    release(port, pool) {
      giveBack(pool, held.get(port.id) ?? []);
      held.delete(port.id);
    },
    poolOf(ingressPeer) {
      const present = pools.get(ingressPeer.id);
      if (present !== undefined) return present;
      const ports = portsOn(ingressPeer, state);
      const pool = createPortPool(ingressPeer, ports.filter(({ id }) => !isWaiting.has(id)).flatMap(mappingsOf));
      for (const port of ports) if (isWaiting.has(port.id) && !made.has(port.id)) hold(port, pool);
      pools.set(ingressPeer.id, pool);
      return pool;
    },
  };
}

/** Takes the ports of those mappings that are free, and returns these mappings. */
function takeFree(pool: PortPool, mappings: readonly PortMapping[]): readonly PortMapping[] {
  return mappings.filter((mapping) => {
    const numbers = numbersOf(mapping);
    const isFree = pool.isFree(mapping.protocol, numbers);
    if (isFree) pool.take(mapping.protocol, [numbers]);
    return isFree;
  });
}

function giveBack(pool: PortPool, mappings: readonly PortMapping[]): void {
  for (const mapping of mappings) pool.release(mapping.protocol, [numbersOf(mapping)]);
}

function numbersOf({ ingress_start: start, ingress_end: end }: PortMapping): Interval {
  return { start, end };
}

function allocate(port: Stored<'IngressPort'>, state: State, ledger: Ledger): Forwarding | undefined {
  const ranges = rangesOf(port);
  const own = state.find('IngressPeer', port.spec.ingress_peer_id ?? '');
  const ownPool = own === undefined ? undefined : ledger.poolOf(own);
  if (ownPool !== undefined) ledger.release(port, ownPool);
  for (const ingressPeer of new Set([...(own === undefined ? [] : [own]), ...candidates(port, state)])) {
    const kept = ranges.map((range) => (ingressPeer === own ? findKeptMappings(range, port) : []));
    // A disabled ingress peer keeps forwarding what it has, but gets no new ports.
    if (ingressPeer.spec.enabled !== true && kept.some((pieces) => pieces.length === 0)) continue;
    const mappings = takePortsForRanges(ranges, kept, ledger.poolOf(ingressPeer));
    if (mappings !== undefined) return { ingressPeer: ingressPeer.id, mappings };
  }
  if (ownPool !== undefined) ledger.hold(port, ownPool);
  return undefined;
}

/**
 * Takes ports for every range, and returns the mappings in the order of the ranges, or `undefined` when there is no
 * room. Ranges that need ports free for both TCP and UDP are served first.
 */
function takePortsForRanges(
  ranges: readonly PortRange[],
  kept: readonly (readonly PortMapping[])[],
  pool: PortPool,
): readonly PortMapping[] | undefined {
  const found: (readonly PortMapping[])[] = [...kept];
  const taken = [...takeFree(pool, kept.flat())];
  const order = [...ranges.keys()].sort(
    (a, b) => Number(usesOneTransport(ranges[a])) - Number(usesOneTransport(ranges[b])),
  );
  for (const at of order) {
    const range = ranges[at];
    if (range === undefined || (kept[at] ?? []).length > 0) continue;
    const pieces = pool.findLowestFree(range.protocol, range.count);
    if (pieces === undefined) {
      giveBack(pool, taken);
      return undefined;
    }
    const mappings = mapPieces(range, pieces);
    found[at] = mappings;
    taken.push(...takeFree(pool, mappings));
  }
  return found.flat();
}

function usesOneTransport(range: PortRange | undefined): boolean {
  return range?.protocol !== 'tcp/udp';
}

/**
 * Returns the enabled ingress peers that may serve an ingress port: those of its region, otherwise the fallback ones.
 */
function candidates(port: Stored<'IngressPort'>, state: State): readonly Stored<'IngressPeer'>[] {
  const { byRegion, fallbacks } = servingPeersIn(state);
  return byRegion.get(countryOf(state.find('Peer', port.parent ?? '')).toLowerCase()) ?? fallbacks;
}

/** Enabled ingress peers of a state, in the order in which they serve. */
interface ServingPeers {
  /** By region. */
  readonly byRegion: ReadonlyMap<string, readonly Stored<'IngressPeer'>[]>;
  readonly fallbacks: readonly Stored<'IngressPeer'>[];
}

const servingCache = new WeakMap<State, ServingPeers>();

function servingPeersIn(state: State): ServingPeers {
  const present = servingCache.get(state);
  if (present !== undefined) return present;
  const enabled = inAllocationOrder(state.ofKind('IngressPeer').filter(({ spec }) => spec.enabled === true));
  const byRegion = Map.groupBy(enabled, (ingressPeer) => regionOf(ingressPeer, state).toLowerCase());
  // An ingress peer whose country is unknown serves no region.
  byRegion.delete('');
  const found = { byRegion, fallbacks: enabled.filter(({ spec }) => spec.fallback === true) };
  servingCache.set(state, found);
  return found;
}

/** Whether an ingress port has exactly the ports that it asks for. */
function hasRequestedPorts(port: Stored<'IngressPort'>, state: State): boolean {
  if (state.get(port.spec.ingress_peer_id ?? '') === undefined) return false;
  const kept = rangesOf(port).map((range) => findKeptMappings(range, port));
  return kept.every((pieces) => pieces.length > 0) && equalJson(kept.flat(), mappingsOf(port));
}

/** Returns the mappings of an ingress port for a range, or an empty list when they do not cover all of it. */
function findKeptMappings({ start, count, protocol }: PortRange, port: Stored<'IngressPort'>): readonly PortMapping[] {
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
