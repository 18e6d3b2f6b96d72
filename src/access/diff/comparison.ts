import { type BitSet, intersectBits, noBits, numbersIn, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { ScratchBits } from '../../lib/bits/scratch-bits.ts';
import type { Traffic } from '../evaluate/traffic.ts';
import { partitionTraffic } from '../evaluate/traffic-partition.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { compileAccess } from '../ruleset/compile.ts';
import { agreeOnSlots } from '../ruleset/endpoints.ts';
import { equalEndpointSets, type Flow } from '../ruleset/flows.ts';

/** Two comparable images of an account, and their differences. An image is the `AccessImage` of one state. */
export interface Comparison {
  readonly before: AccessImage;
  readonly after: AccessImage;
  /** Flows that apply to each affected peer as the source of connections, by slot. */
  readonly flowsByPeer: readonly (ComparedFlows | undefined)[];
  /** Peers that may reach other endpoints than before. */
  readonly affected: BitSet;
  /** Peers that start or stop receiving a guarded route. */
  readonly routeReceiversChanged: BitSet;
  /** All traffic of both images, partitioned into pieces. */
  readonly pieces: readonly Traffic[];
  /** Pieces of each traffic, by number of the traffic. */
  readonly piecesByTraffic: readonly (readonly number[])[];
  /** Numbers of the traffic that contains a piece, by piece. */
  readonly trafficsByPiece: readonly (readonly number[])[];
}

/**
 * A flow with the number of its traffic. Flows with the same traffic are weighed together, separately for each peer.
 */
export interface NumberedFlow {
  readonly flow: Flow;
  readonly number: number;
}

/** Flows that apply to a peer, and those among them that were added, removed or changed. */
export interface ComparedFlows {
  readonly before: readonly NumberedFlow[];
  readonly after: readonly NumberedFlow[];
  readonly changed: readonly NumberedFlow[];
}

/**
 * Compares two images. If they were compiled independently, the first one is compiled again with the slots of the
 * second.
 */
export function compareAccess(first: AccessImage, after: AccessImage): Comparison {
  const before = agreeOnSlots(first.endpoints, after.endpoints)
    ? first
    : compileAccess(first.state, first.observedPeers, after.endpoints);
  const moved = findChangedFlows(before, after);
  const routeReceiversChanged = peersWithChangedRoutes(before, after);
  const traffics = new Map([...before.flows, ...after.flows].map((flow) => [flow.trafficKey, flow.traffic]));
  const { pieces, piecesByTraffic } = partitionTraffic([...traffics.values()]);
  const numbers = new Map([...traffics.keys()].map((key, at) => [key, at]));
  const numbered = (flows: readonly Flow[]): readonly NumberedFlow[] =>
    flows.map((flow) => ({ flow, number: numbers.get(flow.trafficKey) ?? 0 }));
  const affected = uniteBits(routeReceiversChanged, ...moved.map(({ from }) => from.possible));
  return {
    before,
    after,
    flowsByPeer: groupFlowsByPeer(affected, {
      before: numbered(before.flows),
      after: numbered(after.flows),
      changed: numbered(moved),
    }),
    affected,
    routeReceiversChanged,
    pieces,
    piecesByTraffic,
    trafficsByPiece: indexByPiece(piecesByTraffic, pieces.length),
  };
}

function indexByPiece(parts: readonly (readonly number[])[], count: number): readonly (readonly number[])[] {
  const partsByPiece = Array.from({ length: count }, (): number[] => []);
  for (const [number, pieces] of parts.entries()) for (const piece of pieces) partsByPiece[piece]?.push(number);
  return partsByPiece;
}

/** Inverts the flows: returns the flows of each affected peer, by slot. Most peers are named by only a few flows. */
function groupFlowsByPeer(affected: BitSet, flows: ComparedFlows): readonly (ComparedFlows | undefined)[] {
  const about: (Record<keyof ComparedFlows, NumberedFlow[]> | undefined)[] = [];
  for (const at of numbersIn(affected)) about[at] = { before: [], after: [], changed: [] };
  for (const which of ['before', 'after', 'changed'] as const) {
    for (const numbered of flows[which]) {
      const peers = intersectBits(numbered.flow.from.possible, affected);
      for (const at of numbersIn(peers)) about[at]?.[which].push(numbered);
    }
  }
  return about;
}

function findChangedFlows(before: AccessImage, after: AccessImage): readonly Flow[] {
  if (before.flows === after.flows) return [];
  const known = new Map(before.flows.map((flow) => [flow.id, flow]));
  const moved: Flow[] = [];
  for (const flow of after.flows) {
    const old = known.get(flow.id);
    known.delete(flow.id);
    if (old !== undefined && sameEffect(old, flow)) continue;
    moved.push(flow);
    if (old !== undefined) moved.push(old);
  }
  return [...moved, ...known.values()];
}

function sameEffect(a: Flow, b: Flow): boolean {
  return (
    a === b ||
    (a.drop === b.drop &&
      a.trafficKey === b.trafficKey &&
      equalEndpointSets(a.from, b.from) &&
      equalEndpointSets(a.to, b.to))
  );
}

/**
 * Returns the peers that start or stop receiving a guarded route. A route that becomes guarded or unguarded also loses
 * or gains its own flow, which counts as moved.
 */
function peersWithChangedRoutes(before: AccessImage, after: AccessImage): BitSet {
  if (before.guardedRoutes === after.guardedRoutes) return noBits;
  const known = new Map(before.guardedRoutes.map(({ slot, receivers }) => [slot, receivers]));
  const changed: BitSet[] = [];
  for (const { slot, receivers } of after.guardedRoutes) {
    const old = known.get(slot);
    known.delete(slot);
    changed.push(...(old === undefined ? [receivers] : [subtractBits(old, receivers), subtractBits(receivers, old)]));
  }
  return uniteBits(...changed, ...known.values());
}

/** Returns scratch space for endpoint sets of both images. */
export function scratchFor({ before, after }: Comparison): ScratchBits {
  return new ScratchBits(Math.max(before.endpoints.ids.length, after.endpoints.ids.length));
}
