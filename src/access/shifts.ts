import { addBits, type BitSet, dropBits, hasBit, intersectBits, noBits, setBit, subtractBits } from '../lib/bit-set.ts';
import type { ScratchBits } from '../lib/scratch-bits.ts';
import type { Access } from './access.ts';
import type { Comparison } from './comparison.ts';
import type { Flow } from './flows.ts';
import { closedGates } from './line.ts';

/** What a peer gains and loses of some pieces of traffic: the ends on the other side. */
export interface Shift {
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
export function shiftsOf(comparison: Comparison, at: number, scratch: ScratchBits): readonly Shift[] {
  const { before, after, about } = comparison;
  const flows = about[at] ?? { before: [], after: [], moved: [] };
  const was = new Weighing(comparison, { access: before, flows: flows.before, at, scratch });
  const is = new Weighing(comparison, { access: after, flows: flows.after, at, scratch });
  const shifts: Shift[] = [];
  for (const { pieces, wholes } of divide(comparison, lookedPieces(comparison, flows.moved, at), [was, is])) {
    was.weigh(wholes);
    is.weigh(wholes);
    const [gained, lost] = [growth(was, is, scratch), growth(is, was, scratch)];
    if (gained === noBits && lost === noBits) continue;
    const gainedSurely = is.open ? intersectBits(gained, is.sure) : gained;
    const lostSurely = is.open ? subtractBits(lost, is.possible) : lost;
    shifts.push({ pieces, gained, gainedSurely, lost, lostSurely });
  }
  return shifts;
}

/** Pieces of the traffic of all moved flows that concern a peer. */
function lookedPieces({ regated, numbers, parts, pieces }: Comparison, moved: readonly Flow[], at: number): BitSet {
  const looked = new Int32Array((pieces.length + 31) >>> 5);
  for (const { trafficKey } of moved) {
    for (const piece of parts[numbers.get(trafficKey) ?? 0] ?? []) setBit(looked, piece);
  }
  // A gate lets through whatever policies say.
  if (hasBit(regated, at)) looked.fill(-1);
  return looked;
}

/** Pieces about which the same is said, with the traffic in which it is. */
interface Alike {
  readonly pieces: number[];
  readonly wholes: readonly number[];
}

function divide(comparison: Comparison, looked: BitSet, images: readonly Weighing[]): Iterable<Alike> {
  const alike = new Map<string, Alike>();
  for (const [piece, all] of comparison.wholes.entries()) {
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
    const surely = (is.sure[word] as number) & ~(was.sure[word] as number);
    const possibly = (is.possible[word] as number) & ~(was.possible[word] as number);
    if ((surely | possibly) === 0) continue;
    grown ??= scratch.take();
    grown[word] = surely | possibly;
  }
  return grown ?? noBits;
}

/** What flows of one traffic say together: the other ends that they accept and drop, surely and possibly. */
interface Voice {
  accepted: BitSet;
  maybeAccepted: BitSet;
  dropped: BitSet;
  maybeDropped: BitSet;
}

/** What one image says about a peer. */
interface Image {
  readonly access: Access;
  readonly flows: readonly Flow[];
  readonly at: number;
  readonly scratch: ScratchBits;
}

/** What the flows of one image say about a peer, to be weighed for one piece of traffic after the other. */
class Weighing {
  /** The answer of the last `weigh`; one set when nothing is open. */
  readonly sure: BitSet;
  readonly possible: BitSet;
  /** Whether something depends on what nobody knows. */
  readonly open: boolean;
  readonly #voices = new Map<number, Voice>();
  readonly #closed: BitSet;
  readonly #scratch: ScratchBits;

  constructor({ numbers }: Comparison, { access, flows, at, scratch }: Image) {
    this.#scratch = scratch;
    let open = false;
    for (const flow of flows) {
      const sure = hasBit(flow.from.sure, at);
      this.#hear(numbers.get(flow.trafficKey) ?? 0, flow, sure);
      open ||= !sure || flow.to.sure !== flow.to.possible;
    }
    this.sure = scratch.take();
    this.possible = open ? scratch.take() : this.sure;
    this.open = open;
    this.#closed = closedGates(access, at);
  }

  /** Whether anything is said about this traffic. */
  hears(number: number): boolean {
    return this.#voices.has(number);
  }

  /** Weighs drops against accepts in the flows of these traffics. */
  weigh(numbers: readonly number[]): void {
    this.sure.fill(0);
    if (this.open) this.possible.fill(0);
    for (const number of numbers) {
      const voice = this.#voices.get(number);
      if (voice === undefined) continue;
      addBits(this.sure, voice.accepted);
      if (this.open) addBits(this.possible, voice.maybeAccepted);
    }
    for (const number of numbers) {
      const voice = this.#voices.get(number);
      if (voice === undefined) continue;
      dropBits(this.sure, voice.maybeDropped);
      if (this.open) dropBits(this.possible, voice.dropped);
    }
    dropBits(this.sure, this.#closed);
    if (this.open) dropBits(this.possible, this.#closed);
  }

  #hear(number: number, { drop, to }: Flow, sure: boolean): void {
    const known = this.#voices.get(number);
    const voice = known ?? { accepted: noBits, maybeAccepted: noBits, dropped: noBits, maybeDropped: noBits };
    if (known === undefined) this.#voices.set(number, voice);
    const surely = sure ? to.sure : noBits;
    if (drop) {
      voice.dropped = this.#join(voice.dropped, surely);
      voice.maybeDropped = this.#join(voice.maybeDropped, to.possible);
    } else {
      voice.accepted = this.#join(voice.accepted, surely);
      voice.maybeAccepted = this.#join(voice.maybeAccepted, to.possible);
    }
  }

  /** The union, without a new set where one of them is nothing. */
  #join(a: BitSet, b: BitSet): BitSet {
    if (a.length === 0 || a === b) return b;
    if (b.length === 0) return a;
    const joined = this.#scratch.take();
    addBits(joined, a);
    addBits(joined, b);
    return joined;
  }
}
