import { type BitSet, countBits, hasBit, intersectBits, noBits, numbersIn, uniteBits } from '../lib/bit-set.ts';
import { joinIntervals } from '../lib/intervals.ts';
import type { Access } from './access.ts';
import { compareTexts, endsNamed, type Named, nameOf } from './named.ts';
import { type Comparison, classesOf, compareAccess, type PieceShift, shiftsOf } from './shifts.ts';
import { type Shift, sumUp } from './summary.ts';
import { noTraffic, type Traffic } from './traffic.ts';

/** How many pairs of ends, and how many of them only if posture checks turn out that way. */
export interface PairCount {
  readonly pairs: number;
  readonly conditional: number;
}

/** Traffic that a pair gained or lost: surely, or only as far as posture checks turn out that way. */
export interface PairTraffic {
  readonly sure: Traffic;
  readonly conditional: Traffic;
}

/** What one end gained and lost on the way to another. */
export interface PairShift {
  readonly from: Named;
  readonly to: Named;
  readonly gained: PairTraffic;
  readonly lost: PairTraffic;
}

/** Which pairs to list: those whose ends are these objects, or in these groups. */
export interface PairFilter {
  readonly from?: string;
  readonly to?: string;
}

/** What changes about who reaches whom. Counts are exact; the pairs themselves are worked out as they are asked for. */
export interface AccessDiff {
  /** Pairs that gain some traffic. A pair may gain some and lose other. */
  readonly gained: PairCount;
  readonly lost: PairCount;
  /** By the groups and objects that rules name: gains first, then in the order of their names. */
  readonly shifts: readonly Shift[];
  /** In the order of ids. */
  pairs(filter?: PairFilter): Generator<PairShift>;
}

/** Compares two images of an account. */
export function diffAccess(before: Access, after: Access): AccessDiff {
  const comparison = compareAccess(before, after);
  const gained = { pairs: 0, conditional: 0 };
  const lost = { pairs: 0, conditional: 0 };
  const summary = sumUp(comparison);
  for (const members of classesOf(comparison)) {
    const shifts = shiftsOf(comparison, members[0] as number);
    if (shifts.length === 0) continue;
    count(gained, members, shifts, 'gained', 'gainedSurely');
    count(lost, members, shifts, 'lost', 'lostSurely');
    summary.add(members, shifts);
  }
  return { gained, lost, shifts: summary.shifts(), pairs: (filter = {}) => listPairs(comparison, filter) };
}

type Which = Exclude<keyof PieceShift, 'piece'>;

function count(
  sum: { pairs: number; conditional: number },
  members: readonly number[],
  shifts: readonly PieceShift[],
  all: Which,
  surely: Which,
): void {
  const [some, sure] = [all, surely].map((which) => uniteBits(...shifts.map((shift) => shift[which])));
  const pairs = countPairs(members, some ?? noBits);
  sum.pairs += pairs;
  sum.conditional += pairs - countPairs(members, sure ?? noBits);
}

/** Every member with every other end; nobody makes a pair with himself. */
function countPairs(members: readonly number[], others: BitSet): number {
  return members.length * countBits(others) - members.filter((member) => hasBit(others, member)).length;
}

function* listPairs(comparison: Comparison, { from, to }: PairFilter): Generator<PairShift> {
  const { before, after, affected } = comparison;
  const chosen = (id: string | undefined) =>
    id === undefined ? undefined : uniteBits(endsNamed(before, id), endsNamed(after, id));
  const [sources, targets] = [chosen(from), chosen(to)];
  const idAt = (place: number) => after.ends.ids[place] ?? before.ends.ids[place] ?? '';
  const sorted = (places: BitSet) => [...numbersIn(places)].sort((a, b) => compareTexts(idAt(a), idAt(b)));
  const named = (place: number) => nameOf(idAt(place), after.state, before.state);
  for (const source of sorted(sources === undefined ? affected : intersectBits(affected, sources))) {
    const shifts = shiftsOf(comparison, source);
    const reached = uniteBits(...shifts.flatMap(({ gained, lost }) => [gained, lost]));
    for (const target of sorted(targets === undefined ? reached : intersectBits(reached, targets))) {
      if (target === source) continue;
      const about = (all: Which, surely: Which) => pairTraffic(comparison, shifts, target, all, surely);
      yield {
        from: named(source),
        to: named(target),
        gained: about('gained', 'gainedSurely'),
        lost: about('lost', 'lostSurely'),
      };
    }
  }
}

function pairTraffic(
  { pieces }: Comparison,
  shifts: readonly PieceShift[],
  target: number,
  all: Which,
  surely: Which,
): PairTraffic {
  const some = shifts.filter((shift) => hasBit(shift[all], target));
  const traffic = (list: readonly PieceShift[]) =>
    joinIntervals(list.flatMap(({ piece }) => pieces[piece] ?? noTraffic));
  return {
    sure: traffic(some.filter((shift) => hasBit(shift[surely], target))),
    conditional: traffic(some.filter((shift) => !hasBit(shift[surely], target))),
  };
}
