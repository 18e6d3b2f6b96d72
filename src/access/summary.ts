import {
  type BitSet,
  countCommonBits,
  hasBit,
  intersectBits,
  isEmptyBits,
  noBits,
  shareBits,
  uniteBits,
} from '../lib/bit-set.ts';
import { joinIntervals } from '../lib/intervals.ts';
import type { Access } from './access.ts';
import { compareNamed, endsNamed, type Named, nameOf } from './named.ts';
import type { Comparison, PieceShift } from './shifts.ts';
import { noTraffic, type Traffic } from './traffic.ts';

/** What the ends of one group, or one end, gain or lose on the way to those of another. */
export interface Shift {
  readonly change: 'gained' | 'lost';
  readonly from: Named;
  readonly to: Named;
  /** All traffic that some pair gains or loses. */
  readonly traffic: Traffic;
  readonly pairs: number;
  /** How many of these pairs only if posture checks turn out that way. */
  readonly conditional: number;
}

/** Sums up gains by the rules that accept them now, and losses by the rules that accepted them. */
export interface Summary {
  add(members: readonly number[], shifts: readonly PieceShift[]): void;
  shifts(): readonly Shift[];
}

/** Begins a summary. */
export function sumUp(comparison: Comparison): Summary {
  const gains = new Side(comparison, comparison.after, 'gained', 'gainedSurely');
  const losses = new Side(comparison, comparison.before, 'lost', 'lostSurely');
  return {
    add(members, shifts) {
      gains.add(members, shifts);
      losses.add(members, shifts);
    },
    shifts: () => [...gains.shifts(), ...losses.shifts()],
  };
}

/** Those on the other side of a piece that a rule accepts. */
interface Accepted {
  readonly piece: number;
  readonly some: BitSet;
  readonly sure: BitSet;
}

interface Sum {
  readonly from: string;
  readonly to: string;
  readonly pieces: Set<number>;
  pairs: number;
  conditional: number;
}

/** The gains, or the losses; in one image, because the rules that accept them are of one. */
class Side {
  readonly #comparison: Comparison;
  readonly #access: Access;
  readonly #change: 'gained' | 'lost';
  readonly #surely: 'gainedSurely' | 'lostSurely';
  readonly #sums = new Map<string, Sum>();
  readonly #ends = new Map<string, BitSet>();

  constructor(
    comparison: Comparison,
    access: Access,
    change: 'gained' | 'lost',
    surely: 'gainedSurely' | 'lostSurely',
  ) {
    this.#comparison = comparison;
    this.#access = access;
    this.#change = change;
    this.#surely = surely;
  }

  add(members: readonly number[], all: readonly PieceShift[]): void {
    const shifts = new Map(
      all.filter((shift) => !isEmptyBits(shift[this.#change])).map((shift) => [shift.piece, shift]),
    );
    if (shifts.size === 0) return;
    for (const [from, tos] of this.#acceptedBy(members[0] as number, shifts)) {
      const own = members.filter((member) => hasBit(this.#endsOf(from), member));
      if (own.length === 0) continue;
      for (const [to, accepted] of tos) this.#count(from, to, own, accepted);
    }
  }

  shifts(): readonly Shift[] {
    const { before, after, pieces } = this.#comparison;
    const states = this.#change === 'gained' ? [after.state, before.state] : [before.state, after.state];
    return [...this.#sums.values()]
      .map((sum) => ({
        change: this.#change,
        from: nameOf(sum.from, ...states),
        to: nameOf(sum.to, ...states),
        traffic: joinIntervals([...sum.pieces].flatMap((piece) => pieces[piece] ?? noTraffic)),
        pairs: sum.pairs,
        conditional: sum.conditional,
      }))
      .sort((a, b) => compareNamed(a.from, b.from) || compareNamed(a.to, b.to));
  }

  /** By the names of both ends: what the rules that name them accept of what a peer shifted. */
  #acceptedBy(
    at: number,
    shifts: ReadonlyMap<number, PieceShift>,
  ): ReadonlyMap<string, ReadonlyMap<string, Accepted[]>> {
    const found = new Map<string, Map<string, Accepted[]>>();
    for (const flow of this.#access.flows) {
      if (flow.drop || !hasBit(flow.from.possible, at)) continue;
      const accepted = (this.#comparison.partsOf.get(flow.trafficKey) ?? []).flatMap((piece) => {
        const shift = shifts.get(piece);
        if (shift === undefined || !shareBits(shift[this.#change], flow.to.possible)) return [];
        const [some, sure] = [shift[this.#change], shift[this.#surely]];
        return [{ piece, some: intersectBits(some, flow.to.possible), sure: intersectBits(sure, flow.to.possible) }];
      });
      if (accepted.length === 0) continue;
      for (const from of flow.fromNames) {
        const tos = found.get(from) ?? new Map<string, Accepted[]>();
        found.set(from, tos);
        for (const to of flow.toNames) tos.set(to, [...(tos.get(to) ?? []), ...accepted]);
      }
    }
    return found;
  }

  #count(from: string, to: string, own: readonly number[], accepted: readonly Accepted[]): void {
    const ends = this.#endsOf(to);
    const pairs = countPairs(own, united(accepted.map(({ some }) => some)), ends);
    if (pairs === 0) return;
    const key = `${from}\0${to}`;
    const sum = this.#sums.get(key) ?? { from, to, pieces: new Set<number>(), pairs: 0, conditional: 0 };
    this.#sums.set(key, sum);
    for (const { piece, some } of accepted) if (countPairs(own, some, ends) > 0) sum.pieces.add(piece);
    sum.pairs += pairs;
    sum.conditional += pairs - countPairs(own, united(accepted.map(({ sure }) => sure)), ends);
  }

  #endsOf(name: string): BitSet {
    const known = this.#ends.get(name);
    if (known !== undefined) return known;
    const ends = endsNamed(this.#access, name);
    this.#ends.set(name, ends);
    return ends;
  }
}

function countPairs(own: readonly number[], others: BitSet, among: BitSet): number {
  const self = own.filter((member) => hasBit(others, member) && hasBit(among, member)).length;
  return own.length * countCommonBits(others, among) - self;
}

function united(sets: readonly BitSet[]): BitSet {
  return sets.length === 1 ? (sets[0] ?? noBits) : uniteBits(...sets);
}
