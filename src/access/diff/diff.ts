import {
  addAllBits,
  type BitSet,
  countBits,
  hasBit,
  intersectBits,
  numbersIn,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import { mergeIntervals } from '../../lib/bits/intervals.ts';
import { groupEquivalentPeers } from '../evaluate/classes.ts';
import { compareTexts, endpointsNamed, findNamedObject, type NamedObject } from '../evaluate/named.ts';
import type { Traffic } from '../evaluate/traffic.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type Comparison, compareAccess, scratchFor } from './comparison.ts';
import { type AccessDelta, deltasOf } from './deltas.ts';
import { createSummary, type GroupShift } from './summary.ts';

/** Number of pairs of endpoints, and number of those that depend on posture checks with unknown results. */
export interface PairCount {
  readonly pairs: number;
  readonly conditional: number;
}

/** Traffic that a pair gained or lost: certainly, or depending on posture checks with unknown results. */
export interface PairTraffic {
  readonly sure: Traffic;
  readonly conditional: Traffic;
}

/** Traffic from one endpoint to another that was gained and lost. */
export interface PairDelta {
  readonly from: NamedObject;
  readonly to: NamedObject;
  readonly gained: PairTraffic;
  readonly lost: PairTraffic;
}

/** Selects pairs by their endpoints: an id of an endpoint, or of a group that contains it. */
export interface PairFilter {
  readonly from?: string;
  readonly to?: string;
}

/**
 * Difference between two images in who reaches whom. Counts are exact. The pairs themselves are computed on request.
 */
export interface AccessDiff {
  /** Pairs that gain some traffic. A pair may gain some traffic and lose other traffic. */
  readonly gained: PairCount;
  readonly lost: PairCount;
  /** Changes by the groups and objects that rules name: gains first, then by name. */
  readonly groups: readonly GroupShift[];
  /** Generates the pairs in the order of their ids. */
  pairs(filter?: PairFilter): Generator<PairDelta>;
}

/** Compares two images of an account. Yields now and then, so that a large comparison does not block other requests. */
export function* diffAccessInSteps(before: AccessImage, after: AccessImage): Generator<undefined, AccessDiff> {
  const comparison = compareAccess(before, after);
  const gained = { pairs: 0, conditional: 0 };
  const lost = { pairs: 0, conditional: 0 };
  const scratch = scratchFor(comparison);
  const summary = createSummary(comparison, scratch);
  for (const members of groupEquivalentPeers([comparison.before, comparison.after], comparison.affected)) {
    yield undefined;
    scratch.releaseAll();
    const [first] = members;
    const deltas = first === undefined ? [] : deltasOf(comparison, first, scratch);
    if (deltas.length === 0) continue;
    const count = (select: DeltaSelector) => {
      const ends = scratch.take();
      addAllBits(ends, deltas.map(select));
      return countPairs(members, ends);
    };
    addPairCounts(gained, deltas, count, { some: (delta) => delta.gained, surely: (delta) => delta.gainedSurely });
    addPairCounts(lost, deltas, count, { some: (delta) => delta.lost, surely: (delta) => delta.lostSurely });
    summary.add(members, deltas);
  }
  return { gained, lost, groups: summary.rows(), pairs: (filter = {}) => listPairs(comparison, filter) };
}

type DeltaSelector = (delta: AccessDelta) => BitSet;

function addPairCounts(
  sum: { pairs: number; conditional: number },
  deltas: readonly AccessDelta[],
  count: (select: DeltaSelector) => number,
  { some, surely }: { readonly some: DeltaSelector; readonly surely: DeltaSelector },
): void {
  const pairs = count(some);
  sum.pairs += pairs;
  if (deltas.some((delta) => some(delta) !== surely(delta))) sum.conditional += pairs - count(surely);
}

/** Counts the pairs of each member with each other endpoint. An endpoint makes no pair with itself. */
function countPairs(members: readonly number[], others: BitSet): number {
  return members.length * countBits(others) - members.filter((member) => hasBit(others, member)).length;
}

function* listPairs(comparison: Comparison, { from, to }: PairFilter): Generator<PairDelta> {
  const { before, after, affected } = comparison;
  const chosen = (id: string | undefined) =>
    id === undefined ? undefined : uniteBits(endpointsNamed(before, id), endpointsNamed(after, id));
  const [sources, targets] = [chosen(from), chosen(to)];
  const { sorted, named } = createSlotIndex(before, after);
  const scratch = scratchFor(comparison);
  for (const source of sorted(sources === undefined ? affected : intersectBits(affected, sources))) {
    scratch.releaseAll();
    const deltas = deltasOf(comparison, source, scratch);
    const reached = uniteBits(...deltas.flatMap(({ gained, lost }) => [gained, lost]));
    const traffics = deltas.map(({ pieces }) =>
      mergeIntervals(pieces.flatMap((piece) => comparison.pieces[piece] ?? [])),
    );
    const byTraces = new Map<string, Pick<PairDelta, 'gained' | 'lost'>>();
    for (const target of sorted(targets === undefined ? reached : intersectBits(reached, targets))) {
      if (target === source) continue;
      const traces = deltas.map((delta) => encodeChange(delta, target)).join('');
      const known = byTraces.get(traces) ?? decodeChanges(traffics, traces);
      byTraces.set(traces, known);
      yield { from: named(source), to: named(target), ...known };
    }
  }
}

/** Returns functions that sort the slots of both images by id, and that name them. */
function createSlotIndex(before: AccessImage, after: AccessImage) {
  const length = Math.max(before.endpoints.ids.length, after.endpoints.ids.length);
  const ids = Array.from({ length }, (_, slot) => after.endpoints.ids[slot] ?? before.endpoints.ids[slot] ?? '');
  const rank = new Int32Array(length);
  const inOrder = [...ids.keys()].sort((a, b) => compareTexts(ids[a] ?? '', ids[b] ?? ''));
  for (const [at, slot] of inOrder.entries()) rank[slot] = at;
  const names = new Map<number, NamedObject>();
  return {
    sorted: (slots: BitSet) => [...numbersIn(slots)].sort((a, b) => (rank[a] ?? 0) - (rank[b] ?? 0)),
    named(slot: number): NamedObject {
      const known = names.get(slot) ?? findNamedObject(ids[slot] ?? '', after.state, before.state);
      names.set(slot, known);
      return known;
    },
  };
}

/**
 * Returns a letter for the change of a target: `G` gained, `L` lost, in lower case when it is uncertain, `-` unchanged.
 */
function encodeChange({ gained, gainedSurely, lost, lostSurely }: AccessDelta, target: number): string {
  if (hasBit(gained, target)) return hasBit(gainedSurely, target) ? 'G' : 'g';
  if (hasBit(lost, target)) return hasBit(lostSurely, target) ? 'L' : 'l';
  return '-';
}

function decodeChanges(traffics: readonly Traffic[], traces: string): Pick<PairDelta, 'gained' | 'lost'> {
  const traffic = (trace: string) => mergeIntervals(traffics.filter((_, at) => traces[at] === trace).flat());
  return {
    gained: { sure: traffic('G'), conditional: traffic('g') },
    lost: { sure: traffic('L'), conditional: traffic('l') },
  };
}
