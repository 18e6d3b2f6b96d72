import {
  addAllBits,
  addBits,
  type BitSet,
  dropBits,
  hasBit,
  intersectBits,
  noBits,
  setBit,
  subtractBits,
} from '../../lib/bits/bit-set.ts';
import type { ScratchBits } from '../../lib/bits/scratch-bits.ts';
import { withheldRoutes } from '../evaluate/layers.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type EndpointSets, endpointsOf, type Flow } from '../ruleset/flows.ts';
import type { Comparison, NumberedFlow } from './comparison.ts';

/** Access that a peer gains and loses for some pieces of traffic: the endpoints on the other side. */
export interface AccessDelta {
  readonly pieces: readonly number[];
  readonly gained: BitSet;
  /** The part of `gained` that now certainly passes. */
  readonly gainedSurely: BitSet;
  readonly lost: BitSet;
  /** The part of `lost` that can no longer pass, whatever the unknown facts are. */
  readonly lostSurely: BitSet;
}

/**
 * Returns the access that a peer gains and loses. Pieces of traffic without a change are left out. This function takes
 * most of the time of a comparison. The result uses scratch sets, so it is valid only until the scratch is wiped.
 */
export function deltasOf(comparison: Comparison, at: number, scratch: ScratchBits): readonly AccessDelta[] {
  const { before, after, flowsByPeer } = comparison;
  const flows = flowsByPeer[at] ?? { before: [], after: [], changed: [] };
  const was = new FlowWeigher({ access: before, flows: flows.before, at, scratch });
  const is = new FlowWeigher({ access: after, flows: flows.after, at, scratch });
  const deltas: AccessDelta[] = [];
  for (const { pieces, trafficNumbers } of groupPieces(comparison, findAffectedPieces(comparison, flows.changed, at), [
    was,
    is,
  ])) {
    was.weigh(trafficNumbers);
    is.weigh(trafficNumbers);
    const [gained, lost] = [findGainedEndpoints(was, is, scratch), findGainedEndpoints(is, was, scratch)];
    if (gained === noBits && lost === noBits) continue;
    const gainedSurely = is.isUncertain ? intersectBits(gained, is.sure) : gained;
    const lostSurely = is.isUncertain ? subtractBits(lost, is.possible) : lost;
    deltas.push({ pieces, gained, gainedSurely, lost, lostSurely });
  }
  return deltas;
}

/** Returns the pieces of traffic of all moved flows that apply to a peer. */
function findAffectedPieces(
  { routeReceiversChanged, piecesByTraffic, pieces }: Comparison,
  moved: readonly NumberedFlow[],
  at: number,
): BitSet {
  const looked = new Int32Array((pieces.length + 31) >>> 5);
  for (const { number } of moved) for (const piece of piecesByTraffic[number] ?? []) setBit(looked, piece);
  // A changed receiver of a guarded route is affected for all traffic, whatever the policies are.
  if (hasBit(routeReceiversChanged, at)) looked.fill(-1);
  return looked;
}

/** Pieces that the same traffic numbers cover, with these numbers. */
interface PieceGroup {
  readonly pieces: number[];
  readonly trafficNumbers: readonly number[];
}

function groupPieces(comparison: Comparison, looked: BitSet, images: readonly FlowWeigher[]): Iterable<PieceGroup> {
  const alike = new Map<string, PieceGroup>();
  for (const [piece, all] of comparison.trafficsByPiece.entries()) {
    if (!hasBit(looked, piece)) continue;
    const wholes = all.filter((number) => images.some((image) => image.hasTraffic(number)));
    const key = wholes.join();
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { pieces: [piece], trafficNumbers: wholes });
    else known.pieces.push(piece);
  }
  return alike.values();
}

/** Returns the endpoints that `is` reaches and `was` does not reach, or reaches less certainly. */
function findGainedEndpoints(was: FlowWeigher, is: FlowWeigher, scratch: ScratchBits): BitSet {
  let grown: BitSet | undefined;
  for (let word = 0; word < is.sure.length; word++) {
    const surely = (is.sure[word] ?? 0) & ~(was.sure[word] ?? 0);
    const possibly = (is.possible[word] ?? 0) & ~(was.possible[word] ?? 0);
    if ((surely | possibly) === 0) continue;
    grown ??= scratch.take();
    grown[word] = surely | possibly;
  }
  return grown ?? noBits;
}

/**
 * Combined effect of the flows of one traffic: the other endpoints that they accept and drop, certainly and possibly.
 */
interface FlowSets {
  readonly accepted: BitSet;
  readonly maybeAccepted: BitSet;
  readonly dropped: BitSet;
  readonly maybeDropped: BitSet;
}

/** Flows of one image that apply to a peer. */
interface WeighingInput {
  readonly access: AccessImage;
  readonly flows: readonly NumberedFlow[];
  readonly at: number;
  readonly scratch: ScratchBits;
}

/** Weighs the flows of one image that apply to a peer, for one piece of traffic after the other. */
class FlowWeigher {
  /** Result of the last `weigh`. `possible` is the same set when nothing depends on unknown facts. */
  readonly sure: BitSet;
  readonly possible: BitSet;
  /** Whether the result may depend on unknown facts. */
  readonly isUncertain: boolean;
  readonly #flows = new Map<number, Flow[]>();
  readonly #flowSets = new Map<number, FlowSets>();
  readonly #closed: BitSet;
  readonly #input: WeighingInput;

  constructor(image: WeighingInput) {
    const { access, flows, at, scratch } = image;
    this.#input = image;
    let open = false;
    for (const { flow, number } of flows) {
      const known = this.#flows.get(number);
      if (known === undefined) this.#flows.set(number, [flow]);
      else known.push(flow);
      open ||= flow.to.sure !== flow.to.possible || !hasBit(flow.from.sure, at);
    }
    this.sure = scratch.take();
    this.possible = open ? scratch.take() : this.sure;
    this.isUncertain = open;
    this.#closed = withheldRoutes(access, at);
  }

  /** Whether a flow has this traffic. */
  hasTraffic(number: number): boolean {
    return this.#flows.has(number);
  }

  /** Weighs drops against accepts in the flows with these traffic numbers. */
  weigh(numbers: readonly number[]): void {
    const flowSets: FlowSets[] = [];
    for (const number of numbers) {
      const some = this.#flowSetsOf(number);
      if (some !== undefined) flowSets.push(some);
    }
    this.sure.fill(0);
    for (const { accepted } of flowSets) addBits(this.sure, accepted);
    for (const { maybeDropped } of flowSets) dropBits(this.sure, maybeDropped);
    dropBits(this.sure, this.#closed);
    if (!this.isUncertain) return;
    this.possible.fill(0);
    for (const { maybeAccepted } of flowSets) addBits(this.possible, maybeAccepted);
    for (const { dropped } of flowSets) dropBits(this.possible, dropped);
    dropBits(this.possible, this.#closed);
  }

  #flowSetsOf(number: number): FlowSets | undefined {
    const known = this.#flowSets.get(number);
    const flows = this.#flows.get(number);
    if (known !== undefined || flows === undefined) return known;
    const flowSets = {
      accepted: this.#uniteEndpoints(flows, false, 'sure'),
      maybeAccepted: this.isUncertain ? this.#uniteEndpoints(flows, false, 'possible') : noBits,
      dropped: this.isUncertain ? this.#uniteEndpoints(flows, true, 'sure') : noBits,
      maybeDropped: this.#uniteEndpoints(flows, true, 'possible'),
    };
    this.#flowSets.set(number, flowSets);
    return flowSets;
  }

  #uniteEndpoints(flows: readonly Flow[], drop: boolean, which: keyof EndpointSets): BitSet {
    const { at, scratch } = this.#input;
    const sets: BitSet[] = [];
    for (const flow of flows) {
      if (flow.drop === drop && hasBit(endpointsOf(flow.from, which), at)) sets.push(endpointsOf(flow.to, which));
    }
    if (sets.length < 2) return sets[0] ?? noBits;
    const joined = scratch.take();
    addAllBits(joined, sets);
    return joined;
  }
}
