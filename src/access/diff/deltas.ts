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
  const alike = new Map<string | number, PieceGroup>();
  for (const [piece, all] of comparison.trafficsByPiece.entries()) {
    if (!hasBit(looked, piece)) continue;
    const wholes = all.filter((number) => images.some((image) => image.hasTraffic(number)));
    const key = keyOf(wholes);
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { pieces: [piece], trafficNumbers: wholes });
    else known.pieces.push(piece);
  }
  return alike.values();
}

/** Above the number of any traffic by at least two: a list of one is padded with the last number below it. */
const maxTraffics = 2 ** 24;

/** Returns a key that is equal for equal lists. Most lists have one or two numbers, which need not become a text. */
function keyOf(trafficNumbers: readonly number[]): string | number {
  const [first = 0, second = maxTraffics - 1] = trafficNumbers;
  return trafficNumbers.length === 1 || trafficNumbers.length === 2
    ? first * maxTraffics + second
    : trafficNumbers.join();
}

/** Returns the endpoints that `is` reaches and `was` does not reach, or reaches less certainly. */
function findGainedEndpoints(was: FlowWeigher, is: FlowWeigher, scratch: ScratchBits): BitSet {
  const { sure, possible } = is;
  const { sure: wasSure, possible: wasPossible } = was;
  const isCertain = sure === possible && wasSure === wasPossible;
  let grown: BitSet | undefined;
  for (let word = 0; word < sure.length; word++) {
    let gained = (sure[word] ?? 0) & ~(wasSure[word] ?? 0);
    if (!isCertain) gained |= (possible[word] ?? 0) & ~(wasPossible[word] ?? 0);
    if (gained === 0) continue;
    grown ??= scratch.take();
    grown[word] = gained;
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
  // Indexed by traffic number: a map for each peer would take as long as the sets.
  readonly #flows: (Flow[] | undefined)[] = [];
  readonly #flowSets: (FlowSets | undefined)[] = [];
  readonly #closed: BitSet;
  readonly #input: WeighingInput;

  constructor(image: WeighingInput) {
    const { access, flows, at, scratch } = image;
    this.#input = image;
    let open = false;
    for (const { flow, number } of flows) {
      const known = this.#flows[number];
      if (known === undefined) this.#flows[number] = [flow];
      else known.push(flow);
      open ||= flow.to.sure !== flow.to.possible || !isSurelyFrom(flow, at);
    }
    this.sure = scratch.take();
    this.possible = open ? scratch.take() : this.sure;
    this.isUncertain = open;
    this.#closed = withheldRoutes(access, at);
  }

  /** Whether a flow has this traffic. */
  hasTraffic(number: number): boolean {
    return this.#flows[number] !== undefined;
  }

  /** Weighs drops against accepts in the flows with these traffic numbers. */
  weigh(numbers: readonly number[]): void {
    const flowSets: FlowSets[] = [];
    for (const number of numbers) {
      const some = this.#flowSetsOf(number);
      if (some !== undefined) flowSets.push(some);
    }
    const { sure, possible } = this;
    sure.fill(0);
    for (const { accepted } of flowSets) addBits(sure, accepted);
    for (const { maybeDropped } of flowSets) dropBits(sure, maybeDropped);
    dropBits(sure, this.#closed);
    if (!this.isUncertain) return;
    possible.fill(0);
    for (const { maybeAccepted } of flowSets) addBits(possible, maybeAccepted);
    for (const { dropped } of flowSets) dropBits(possible, dropped);
    dropBits(possible, this.#closed);
  }

  #flowSetsOf(number: number): FlowSets | undefined {
    const known = this.#flowSets[number];
    const flows = this.#flows[number];
    if (known !== undefined || flows === undefined) return known;
    const flowSets = {
      accepted: this.#uniteEndpoints(flows, false, 'sure'),
      maybeAccepted: this.isUncertain ? this.#uniteEndpoints(flows, false, 'possible') : noBits,
      dropped: this.isUncertain ? this.#uniteEndpoints(flows, true, 'sure') : noBits,
      maybeDropped: this.#uniteEndpoints(flows, true, 'possible'),
    };
    this.#flowSets[number] = flowSets;
    return flowSets;
  }

  #uniteEndpoints(flows: readonly Flow[], drop: boolean, which: keyof EndpointSets): BitSet {
    const { at, scratch } = this.#input;
    const sets: BitSet[] = [];
    for (const flow of flows) {
      if (flow.drop === drop && (which === 'possible' || isSurelyFrom(flow, at)))
        sets.push(endpointsOf(flow.to, which));
    }
    if (sets.length < 2) return sets[0] ?? noBits;
    const joined = scratch.take();
    addAllBits(joined, sets);
    return joined;
  }
}

/** Whether a flow that possibly applies to a peer certainly applies to it. */
function isSurelyFrom({ from }: Flow, at: number): boolean {
  return from.sure === from.possible || hasBit(from.sure, at);
}
