import { type BitSet, hasBit, intersectBits, isEmptyBits, noBits, subtractBits, uniteBits } from '../lib/bit-set.ts';
import { partition } from '../lib/partition.ts';
import type { Access } from './access.ts';
import { compileAccess } from './compile.ts';
import { agreeOnPlaces } from './ends.ts';
import { type Extent, equalExtents, type Flow } from './flows.ts';
import { type Layer, type Line, layersByPiece, lineFrom, weigh } from './line.ts';
import { cutTraffic } from './pieces.ts';
import type { Traffic } from './traffic.ts';

/** Two images of an account that can be compared, and all that is other. */
export interface Comparison {
  readonly before: Access;
  readonly after: Access;
  /** Flows that came, went, or mean others. */
  readonly moved: readonly Flow[];
  /** Peers that may reach other things than before. */
  readonly affected: BitSet;
  /** Those to which a guarded route is handed, or not any more. */
  readonly regated: BitSet;
  /** Pieces of which all traffic of both images is made. */
  readonly pieces: readonly Traffic[];
  readonly partsOf: ReadonlyMap<string, readonly number[]>;
}

/** What peers that are alike gain and lose of one piece of traffic: the ends on the other side. */
export interface PieceShift {
  readonly piece: number;
  readonly gained: BitSet;
  /** The part of `gained` that passes for sure now. */
  readonly gainedSurely: BitSet;
  readonly lost: BitSet;
  /** The part of `lost` that can not pass any more, whatever turns out. */
  readonly lostSurely: BitSet;
}

/** Finds out what is other. Images that were made apart are brought to the same places first. */
export function compareAccess(first: Access, after: Access): Comparison {
  const before = agreeOnPlaces(first.ends, after.ends)
    ? first
    : compileAccess(first.state, first.circumstances, after.ends);
  const moved = movedFlows(before, after);
  const regated = regatedPeers(before, after);
  const traffics = new Map([...before.flows, ...after.flows].map((flow) => [flow.trafficKey, flow.traffic]));
  const { pieces, parts } = cutTraffic([...traffics.values()]);
  return {
    before,
    after,
    moved,
    affected: uniteBits(regated, ...moved.map(({ from }) => from.possible)),
    regated,
    pieces,
    partsOf: new Map([...traffics.keys()].map((key, at) => [key, parts[at] ?? []])),
  };
}

/** Affected peers in classes of those that are alike before and after. */
export function classesOf({ before, after, affected }: Comparison): readonly (readonly number[])[] {
  const sets = new Set<BitSet>();
  for (const { from } of [...before.flows, ...after.flows]) sets.add(from.sure).add(from.possible);
  for (const { receivers } of [...before.gates, ...after.gates]) sets.add(receivers);
  return partition(affected, sets);
}

/** What a peer gains and loses, piece by piece; pieces of which it does neither are left out. */
export function shiftsOf(comparison: Comparison, at: number): readonly PieceShift[] {
  const { before, after } = comparison;
  const looked = lookedPieces(comparison, at);
  if (looked.length === 0) return [];
  const [was, is] = [spread(lineFrom(before, at), comparison), spread(lineFrom(after, at), comparison)];
  return looked.flatMap((piece) => {
    const [old, now] = [was(piece), is(piece)];
    const gained = uniteBits(subtractBits(now.sure, old.sure), subtractBits(now.possible, old.possible));
    const lost = uniteBits(subtractBits(old.sure, now.sure), subtractBits(old.possible, now.possible));
    if (isEmptyBits(gained) && isEmptyBits(lost)) return [];
    return [
      {
        piece,
        gained,
        gainedSurely: intersectBits(gained, now.sure),
        lost,
        lostSurely: subtractBits(lost, now.possible),
      },
    ];
  });
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
function regatedPeers(before: Access, after: Access): BitSet {
  if (before.gates === after.gates) return noBits;
  const known = new Map(before.gates.map(({ place, receivers }) => [place, receivers]));
  const changed: BitSet[] = [];
  for (const { place, receivers } of after.gates) {
    const old = known.get(place);
    known.delete(place);
    changed.push(...(old === undefined ? [receivers] : [subtractBits(old, receivers), subtractBits(receivers, old)]));
  }
  return uniteBits(...changed, ...known.values());
}

function lookedPieces({ moved, regated, partsOf, pieces }: Comparison, at: number): readonly number[] {
  if (hasBit(regated, at)) return pieces.map((_, piece) => piece);
  const looked = new Set<number>();
  for (const { from, trafficKey: key } of moved) {
    if (hasBit(from.possible, at)) for (const piece of partsOf.get(key) ?? []) looked.add(piece);
  }
  return [...looked].sort((a, b) => a - b);
}

/** Answers for each piece who is reached. */
function spread({ accepts, drops }: Line, { partsOf }: Comparison): (piece: number) => Extent {
  const parts = (layers: readonly Layer[]) => layers.map(({ key }) => partsOf.get(key) ?? []);
  const [accepting, dropping] = [layersByPiece(accepts, parts(accepts)), layersByPiece(drops, parts(drops))];
  return (piece) => weigh(accepting.get(piece) ?? [], dropping.get(piece) ?? []);
}
