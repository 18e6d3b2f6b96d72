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

/** What a peer gains and loses of some pieces of traffic: the ends on the other side. */
export interface AccessDelta {
  readonly pieces: readonly number[];
  readonly gained: BitSet;
  /** The part of `gained` that passes for sure now. */
  readonly gainedSurely: BitSet;
  readonly lost: BitSet;
  /** The part of `lost` that can not pass any more, whatever turns out. */
  readonly lostSurely: BitSet;
}

/**
 * What a peer gains and loses; pieces of traffic of which it does neither are left out. This is where a difference spends
 * its time. The answer lies on the scratch, and is good until that is wiped.
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

/** Pieces of the traffic of all moved flows that concern a peer. */
function lookedPieces(
  { routeReceiversChanged, parts, pieces }: Comparison,
  moved: readonly NumberedFlow[],
  at: number,
): BitSet {
  const looked = new Int32Array((pieces.length + 31) >>> 5);
  for (const { number } of moved) for (const piece of parts[number] ?? []) setBit(looked, piece);
  // A gate lets through whatever policies say.
  if (hasBit(routeReceiversChanged, at)) looked.fill(-1);
  return looked;
}

/** Pieces about which the same is said, with the traffic in which it is. */
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

/** What came to `is` that was not there, or less surely. */
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

/** What flows of one traffic say together: the other ends that they accept and drop, surely and possibly. */
interface FlowSets {
  readonly accepted: BitSet;
  readonly maybeAccepted: BitSet;
  readonly dropped: BitSet;
  readonly maybeDropped: BitSet;
}

/** What one image says about a peer. */
interface Image {
  readonly access: Access;
  readonly flows: readonly NumberedFlow[];
  readonly at: number;
  readonly scratch: ScratchBits;
}

/** What the flows of one image say about a peer, to be weighed for one piece of traffic after the other. */
class Weighing {
  /** The answer of the last `weigh`; one set when nothing is open. */
  readonly sure: BitSet;
  readonly possible: BitSet;
  /** Whether something depends on unknown facts. */
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

  /** Whether anything is said about this traffic. */
  hears(number: number): boolean {
    return this.#flows.has(number);
  }

  /** Weighs drops against accepts in the flows of these traffics. */
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
