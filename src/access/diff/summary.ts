import {
  addBits,
  addCommonBits,
  type BitSet,
  countBits,
  countCommonBits,
  hasBit,
  haveCommonBits,
  intersectBits,
  isEmptyBits,
  noBits,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import { mergeIntervals } from '../../lib/bits/intervals.ts';
import type { ScratchBits } from '../../lib/bits/scratch-bits.ts';
import { compareNamed, endpointsNamed, findNamedObject, type NamedObject } from '../evaluate/named.ts';
import { noTraffic, type Traffic } from '../evaluate/traffic.ts';
import type { AccessImage } from '../ruleset/access.ts';
import type { Flow } from '../ruleset/flows.ts';
import type { Comparison } from './comparison.ts';
import type { AccessDelta } from './deltas.ts';

/** Access from the endpoints of one group, or from one endpoint, to those of another that is gained or lost. */
export interface GroupShift {
  readonly change: 'gained' | 'lost';
  readonly from: NamedObject;
  readonly to: NamedObject;
  /** Union of the traffic that the pairs gain or lose. */
  readonly traffic: Traffic;
  readonly pairs: number;
  /** Number of pairs whose change depends entirely on posture checks with unknown results. */
  readonly conditional: number;
  /** Whether another pair gains or loses a part of its traffic only depending on such posture checks. */
  readonly partly: boolean;
}

/** Groups gains by the rules that accept the traffic now, and losses by the rules that accepted it before. */
export interface Summary {
  /**
   * Adds a class of equivalent members. `deltas` are the changes of the first member, in scratch sets that are still
   * valid.
   */
  add(members: readonly number[], deltas: readonly AccessDelta[]): void;
  rows(): readonly GroupShift[];
}

/** Creates an empty summary. */
export function createSummary(comparison: Comparison, scratch: ScratchBits): Summary {
  const { before, after } = comparison;
  const gains = new ShiftCollector(comparison, scratch, { image: 'after', change: 'gained', surely: 'gainedSurely' });
  const losses = new ShiftCollector(comparison, scratch, { image: 'before', change: 'lost', surely: 'lostSurely' });
  return {
    add(members, deltas) {
      gains.add(members, deltas);
      losses.add(members, deltas);
    },
    rows: () => [...gains.rows([after, before]), ...losses.rows([before, after])],
  };
}

interface SideKeys {
  readonly image: 'before' | 'after';
  readonly change: 'gained' | 'lost';
  readonly surely: 'gainedSurely' | 'lostSurely';
}

/** Two names that rules connect, with the sums of these rules. */
interface Link {
  readonly from: string;
  readonly to: string;
  readonly sources: BitSet;
  readonly targets: BitSet;
  /** Number of rules that connect them. */
  ruleCount: number;
  readonly pieces: Set<number>;
  pairs: number;
  conditional: number;
  partly: boolean;
}

/** Change of one traffic for a class of peers. `sure` is the same set as `possible` when nothing is uncertain. */
interface TrafficShift {
  readonly possible: BitSet;
  readonly sure: BitSet;
  readonly deltas: readonly AccessDelta[];
  readonly pieces: readonly number[];
}

/** The gains or the losses. Uses one image, because the rules that accept them belong to one image. */
class ShiftCollector {
  readonly #comparison: Comparison;
  readonly #keys: SideKeys;
  readonly #scratch: ScratchBits;
  readonly #links: ReadonlyMap<Flow, readonly Link[]>;
  /** Buffer for one set at a time, which avoids an allocation for each link of each class. */
  readonly #buffer: BitSet;

  constructor(comparison: Comparison, scratch: ScratchBits, which: SideKeys) {
    const access = comparison[which.image];
    this.#scratch = scratch;
    this.#comparison = comparison;
    this.#keys = which;
    this.#links = linksOf(access);
    this.#buffer = new Int32Array((access.endpoints.ids.length + 31) >>> 5);
  }

  add(members: readonly number[], all: readonly AccessDelta[]): void {
    const deltas = all.filter((delta) => !isEmptyBits(delta[this.#keys.change]));
    const [at] = members;
    if (deltas.length === 0 || at === undefined) return;
    const byPiece: (AccessDelta | undefined)[] = [];
    for (const delta of deltas) for (const piece of delta.pieces) byPiece[piece] = delta;
    // Indexed by number: a map for each class would take as long as the sets.
    const shiftByNumber: (TrafficShift | null | undefined)[] = [];
    const several = new Map<Link, FlowDelta[]>();
    for (const { flow, number } of this.#comparison.flowsByPeer[at]?.[this.#keys.image] ?? []) {
      let shift = shiftByNumber[number];
      if (shift === undefined) {
        shift = this.#findShift(number, byPiece) ?? null;
        shiftByNumber[number] = shift;
      }
      // Most kinds of traffic have no shift, so that is checked first.
      if (shift === null || flow.drop || !haveCommonBits(shift.possible, flow.to.possible)) continue;
      const flows = { flow, shift };
      for (const link of this.#links.get(flow) ?? []) {
        if (link.ruleCount === 1) this.#addPairs(link, members, [flows]);
        else several.set(link, [...(several.get(link) ?? []), flows]);
      }
    }
    for (const [link, flows] of several) this.#addPairs(link, members, flows);
  }

  rows(images: readonly AccessImage[]): readonly GroupShift[] {
    const states = images.map(({ state }) => state);
    const { pieces } = this.#comparison;
    return [...new Set([...this.#links.values()].flat())]
      .filter(({ pairs }) => pairs > 0)
      .map((link) => ({
        change: this.#keys.change,
        from: findNamedObject(link.from, ...states),
        to: findNamedObject(link.to, ...states),
        traffic: mergeIntervals([...link.pieces].flatMap((piece) => pieces[piece] ?? noTraffic)),
        pairs: link.pairs,
        conditional: link.conditional,
        partly: link.partly,
      }))
      .sort((a, b) => compareNamed(a.from, b.from) || compareNamed(a.to, b.to));
  }

  #findShift(number: number, byPiece: readonly (AccessDelta | undefined)[]): TrafficShift | undefined {
    const { change, surely } = this.#keys;
    const [pieces, deltas]: [number[], AccessDelta[]] = [[], []];
    for (const piece of this.#comparison.piecesByTraffic[number] ?? []) {
      const delta = byPiece[piece];
      if (delta === undefined) continue;
      pieces.push(piece);
      if (!deltas.includes(delta)) deltas.push(delta);
    }
    if (deltas.length === 0) return undefined;
    const possible = this.#united(deltas.map((delta) => delta[change]));
    const isSure = deltas.every((delta) => delta[change] === delta[surely]);
    return { possible, sure: isSure ? possible : this.#united(deltas.map((delta) => delta[surely])), deltas, pieces };
  }

  #united(sets: readonly BitSet[]): BitSet {
    if (sets.length === 1) return sets[0] ?? noBits;
    const united = this.#scratch.take();
    for (const set of sets) addBits(united, set);
    return united;
  }

  #addPairs(link: Link, members: readonly number[], flows: readonly FlowDelta[]): void {
    const own = members.length === 1 ? members : members.filter((member) => hasBit(link.sources, member));
    const [first] = own;
    if (first === undefined || !hasBit(link.sources, first)) return;
    const pairs = this.#countPairs(link, own, flows, false);
    if (pairs === 0) return;
    link.pairs += pairs;
    if (flows.some(isUncertain)) {
      const sure = this.#countPairs(link, own, flows, true);
      link.conditional += pairs - sure;
      link.partly ||= sure > 0 && this.#isPartly(link, own, flows);
    }
    for (const { flow, shift } of flows) {
      if (shift.pieces.every((piece) => link.pieces.has(piece))) continue;
      for (const { pieces, [this.#keys.change]: possible } of shift.deltas) {
        const one = { flow, shift: { ...shift, possible } };
        if (this.#countPairs(link, own, [one], false) > 0) for (const piece of pieces) link.pieces.add(piece);
      }
    }
  }

  /** Whether a pair has both a certain and an uncertain change. */
  #isPartly({ targets }: Link, own: readonly number[], flows: readonly FlowDelta[]): boolean {
    const { change, surely } = this.#keys;
    const open = flows.flatMap(({ flow, shift }) =>
      shift.deltas.map((delta) => intersectBits(subtractBits(delta[change], delta[surely]), flow.to.possible)),
    );
    const sure = flows.map(({ flow, shift }) => intersectBits(shift.sure, flow.to.possible));
    const both = intersectBits(intersectBits(uniteBits(...open), uniteBits(...sure)), targets);
    const count = countBits(both);
    return own.some((member) => count > (hasBit(both, member) ? 1 : 0));
  }

  /** Counts the pairs of own endpoints and changed endpoints that both the flows and the link name. */
  #countPairs({ targets }: Link, own: readonly number[], flows: readonly FlowDelta[], surely: boolean): number {
    const [first] = flows;
    // Most links have one rule, whose change needs no separate set.
    const shifted =
      flows.length === 1 && first !== undefined ? shiftedEndsOf(first, surely) : this.#joined(flows, surely);
    const count = own.length * countCommonBits(shifted.ends, shifted.to, targets);
    if (count === 0) return 0;
    const isShifted = (member: number) => [shifted.ends, shifted.to, targets].every((set) => hasBit(set, member));
    return count - own.filter(isShifted).length;
  }

  #joined(flows: readonly FlowDelta[], surely: boolean): ShiftedEnds {
    const ends = this.#buffer.fill(0);
    for (const flow of flows) {
      const shifted = shiftedEndsOf(flow, surely);
      addCommonBits(ends, shifted.ends, shifted.to);
    }
    return { ends, to: ends };
  }
}

/** Changed endpoints that a rule names: those in both sets. */
interface ShiftedEnds {
  readonly ends: BitSet;
  readonly to: BitSet;
}

function shiftedEndsOf({ flow, shift }: FlowDelta, surely: boolean): ShiftedEnds {
  return { ends: surely ? shift.sure : shift.possible, to: flow.to.possible };
}

interface FlowDelta {
  readonly flow: Flow;
  readonly shift: TrafficShift;
}

function isUncertain({ shift }: FlowDelta): boolean {
  return shift.possible !== shift.sure;
}

/** Returns the links of each accepting rule: one for each pair of its names. */
function linksOf(access: AccessImage): ReadonlyMap<Flow, readonly Link[]> {
  const known = new Map<string, Link>();
  const endpoints = new Map<string, BitSet>();
  const endsOf = (name: string) => {
    const present = endpoints.get(name) ?? endpointsNamed(access, name);
    endpoints.set(name, present);
    return present;
  };
  const link = (from: string, to: string): Link => {
    const key = `${from}\0${to}`;
    const fresh = {
      from,
      to,
      sources: endsOf(from),
      targets: endsOf(to),
      ruleCount: 0,
      pieces: new Set<number>(),
      pairs: 0,
      conditional: 0,
      partly: false,
    };
    const present = known.get(key) ?? fresh;
    known.set(key, present);
    present.ruleCount += 1;
    return present;
  };
  const accepting = access.flows.filter(({ drop }) => !drop);
  return new Map(
    accepting.map((flow) => [flow, flow.fromNames.flatMap((from) => flow.toNames.map((to) => link(from, to)))]),
  );
}
