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
import type { Access } from '../ruleset/access.ts';
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
  const { before, after, about } = comparison;
  const flows = about[at] ?? { before: [], after: [], moved: [] };
  const was = new Weighing({ access: before, flows: flows.before, at, scratch });
  const is = new Weighing({ access: after, flows: flows.after, at, scratch });
  const deltas: AccessDelta[] = [];
  for (const { pieces, wholes } of divide(comparison, lookedPieces(comparison, flows.moved, at), [was, is])) {
    was.weigh(wholes);
    is.weigh(wholes);
    const [gained, lost] = [growth(was, is, scratch), growth(is, was, scratch)];
    if (gained === noBits && lost === noBits) continue;
    const gainedSurely = is.open ? intersectBits(gained, is.sure) : gained;
    const lostSurely = is.open ? subtractBits(lost, is.possible) : lost;
    deltas.push({ pieces, gained, gainedSurely, lost, lostSurely });
  }
  return deltas;
}

/** Returns the pieces of traffic of all moved flows that apply to a peer. */
function lookedPieces(
  { routeReceiversChanged, parts, pieces }: Comparison,
  moved: readonly NumberedFlow[],
  at: number,
): BitSet {
  const looked = new Int32Array((pieces.length + 31) >>> 5);
  for (const { number } of moved) for (const piece of parts[number] ?? []) setBit(looked, piece);
  // A changed receiver of a guarded route is affected for all traffic, whatever the policies are.
  if (hasBit(routeReceiversChanged, at)) looked.fill(-1);
  return looked;
}

/** Pieces that the same traffic numbers cover, with these numbers. */
interface Alike {
  readonly pieces: number[];
  readonly wholes: readonly number[];
}

function divide(comparison: Comparison, looked: BitSet, images: readonly Weighing[]): Iterable<Alike> {
  const alike = new Map<string, Alike>();
  for (const [piece, all] of comparison.partsByPiece.entries()) {
    if (!hasBit(looked, piece)) continue;
    const wholes = all.filter((number) => images.some((image) => image.hears(number)));
    const key = wholes.join();
    const known = alike.get(key);
    if (known === undefined) alike.set(key, { pieces: [piece], wholes });
    else known.pieces.push(piece);
  }
  return alike.values();
}

/** Returns the endpoints that `is` reaches and `was` does not reach, or reaches less certainly. */
function growth(was: Weighing, is: Weighing, scratch: ScratchBits): BitSet {
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
interface Image {
  readonly access: Access;
  readonly flows: readonly NumberedFlow[];
  readonly at: number;
  readonly scratch: ScratchBits;
}

/** Weighs the flows of one image that apply to a peer, for one piece of traffic after the other. */
class Weighing {
  /** Result of the last `weigh`. `possible` is the same set when nothing depends on unknown facts. */
  readonly sure: BitSet;
  readonly possible: BitSet;
  /** Whether the result may depend on unknown facts. */
  readonly open: boolean;
  readonly #flows = new Map<number, Flow[]>();
  readonly #flowSets = new Map<number, FlowSets>();
  readonly #closed: BitSet;
  readonly #image: Image;

  constructor(image: Image) {
    const { access, flows, at, scratch } = image;
    this.#image = image;
    let open = false;
    for (const { flow, number } of flows) {
      const known = this.#flows.get(number);
      if (known === undefined) this.#flows.set(number, [flow]);
      else known.push(flow);
      open ||= flow.to.sure !== flow.to.possible || !hasBit(flow.from.sure, at);
    }
    this.sure = scratch.take();
    this.possible = open ? scratch.take() : this.sure;
    this.open = open;
    this.#closed = withheldRoutes(access, at);
  }

  /** Whether a flow has this traffic. */
  hears(number: number): boolean {
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
    if (!this.open) return;
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
      accepted: this.#join(flows, false, 'sure'),
      maybeAccepted: this.open ? this.#join(flows, false, 'possible') : noBits,
      dropped: this.open ? this.#join(flows, true, 'sure') : noBits,
      maybeDropped: this.#join(flows, true, 'possible'),
    };
    this.#flowSets.set(number, flowSets);
    return flowSets;
  }

  #join(flows: readonly Flow[], drop: boolean, which: keyof EndpointSets): BitSet {
    const { at, scratch } = this.#image;
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
