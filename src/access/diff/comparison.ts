import { type BitSet, intersectBits, noBits, numbersIn, subtractBits, uniteBits } from '../../lib/bits/bit-set.ts';
import { ScratchBits } from '../../lib/bits/scratch-bits.ts';
import type { Traffic } from '../evaluate/traffic.ts';
import { partitionTraffic } from '../evaluate/traffic-partition.ts';
import type { Access } from '../ruleset/access.ts';
import { compileAccess } from '../ruleset/compile.ts';
import { agreeOnSlots } from '../ruleset/endpoints.ts';
import { equalExtents, type Flow } from '../ruleset/flows.ts';

/** Two images of an account that can be compared, and their differences. */
export interface Comparison {
  readonly before: Access;
  readonly after: Access;
  /** What is said about each affected peer as one that opens connections, by its slot. */
  readonly about: readonly (About | undefined)[];
  /** Peers that may reach other things than before. */
  readonly affected: BitSet;
  /** Those to which a guarded route is handed, or not any more. */
  readonly routeReceiversChanged: BitSet;
  /** All traffic of both images, cut up. */
  readonly pieces: readonly Traffic[];
  /** By the number of traffic: the pieces that make it. */
  readonly parts: readonly (readonly number[])[];
  /** By piece: the traffic that it is part of. */
  readonly partsByPiece: readonly (readonly number[])[];
}

/** A flow with the number of its traffic: flows of the same traffic are weighed together, for every peer anew. */
export interface NumberedFlow {
  readonly flow: Flow;
  readonly number: number;
}

/** The flows that speak about a peer, and those of them that came, went, or mean others. */
export interface About {
  readonly before: readonly NumberedFlow[];
  readonly after: readonly NumberedFlow[];
  readonly moved: readonly NumberedFlow[];
}

/** Compares two images. Images that were compiled independently are brought to the same slots first. */
export function compareAccess(first: Access, after: Access): Comparison {
  const before = agreeOnSlots(first.endpoints, after.endpoints)
    ? first
    : compileAccess(first.state, first.observedPeers, after.endpoints);
  const moved = movedFlows(before, after);
  const routeReceiversChanged = peersWithChangedRoutes(before, after);
  const traffics = new Map([...before.flows, ...after.flows].map((flow) => [flow.trafficKey, flow.traffic]));
  const { pieces, parts } = partitionTraffic([...traffics.values()]);
  const numbers = new Map([...traffics.keys()].map((key, at) => [key, at]));
  const numbered = (flows: readonly Flow[]): readonly NumberedFlow[] =>
    flows.map((flow) => ({ flow, number: numbers.get(flow.trafficKey) ?? 0 }));
  const affected = uniteBits(routeReceiversChanged, ...moved.map(({ from }) => from.possible));
  return {
    before,
    after,
    about: gatherAbout(affected, {
      before: numbered(before.flows),
      after: numbered(after.flows),
      moved: numbered(moved),
    }),
    affected,
    routeReceiversChanged,
    pieces,
    parts,
    partsByPiece: indexByPiece(parts, pieces.length),
  };
}

function indexByPiece(parts: readonly (readonly number[])[], count: number): readonly (readonly number[])[] {
  const partsByPiece = Array.from({ length: count }, (): number[] => []);
  for (const [number, pieces] of parts.entries()) for (const piece of pieces) partsByPiece[piece]?.push(number);
  return partsByPiece;
}

/** Turns flows that name peers into peers that are named: most peers are named by few. */
function gatherAbout(affected: BitSet, flows: About): readonly (About | undefined)[] {
  const about: (Record<keyof About, NumberedFlow[]> | undefined)[] = [];
  for (const at of numbersIn(affected)) about[at] = { before: [], after: [], moved: [] };
  for (const which of ['before', 'after', 'moved'] as const) {
    for (const numbered of flows[which]) {
      const peers = intersectBits(numbered.flow.from.possible, affected);
      for (const at of numbersIn(peers)) about[at]?.[which].push(numbered);
    }
  }
  return about;
}

function movedFlows(before: Access, after: Access): readonly Flow[] {
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
    (a.drop === b.drop && a.trafficKey === b.trafficKey && equalExtents(a.from, b.from) && equalExtents(a.to, b.to))
  );
}

/** Gates that came or went leave their routes to flows, which moved then. */
function peersWithChangedRoutes(before: Access, after: Access): BitSet {
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

/** Room for sets of ends of both images. */
export function scratchFor({ before, after }: Comparison): ScratchBits {
  return new ScratchBits(Math.max(before.endpoints.ids.length, after.endpoints.ids.length));
}
