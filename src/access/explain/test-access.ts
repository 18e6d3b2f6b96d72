import {
  type BitSet,
  bitsOf,
  hasBit,
  intersectBits,
  isEmptyBits,
  noBits,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import { type testOutcomes, verdicts } from '../../model/declare/access-words.ts';
import type { Traffic } from '../evaluate/traffic.ts';
import type { Access } from '../ruleset/access.ts';
import { partOf } from '../ruleset/object-readers.ts';
import { type Explanation, explainPair, type Question, trafficOfQuestion, type Verdict } from './explain.ts';
import { groupRepresentative, type QueryEndpoint, queryEndpointOf } from './query-endpoint.ts';
import { countMemberPairs, countPair, countPairs, countPairsWith, type VerdictCounts } from './verdict-counts.ts';

/** What is found about all pairs of a question. */
export interface TestResult {
  /** What holds for every pair; `mixed` when they differ, or when only a part of the traffic passes. */
  readonly verdict: Verdict;
  readonly pairs: Readonly<Record<Verdict, number>>;
  /** The first pair of this verdict in the order of ids, explained. */
  example(verdict: Verdict): Explanation | undefined;
}

/** What a test finds: `conditional` when that depends on posture checks about which not enough is known. */
export interface TestOutcome {
  readonly outcome: (typeof testOutcomes)[number];
  readonly result: TestResult;
  /** The pair that decides, explained; absent when there is no pair at all. */
  readonly decided?: Explanation;
}

/**
 * Asks about each end or, for a group, about every peer and resource in it that takes part. A group without any is
 * answered for by a peer that is in it and in nothing else, so that a test means something before anybody has enrolled.
 * `temporaryPeers`: those who are there to reach one peer are asked about too, although groups let them do nothing.
 */
export function testAccess(access: Access, question: Question, { temporaryPeers = false } = {}): TestResult {
  const asked = trafficOfQuestion(question);
  const { peer } = access.endpoints.of;
  const takingPart = temporaryPeers ? access.live : subtractBits(access.live, access.endpoints.temporaryPeers);
  const from = sideOf(access, question.from, { opening: intersectBits(access.live, peer), meant: takingPart });
  const to = sideOf(access, question.to, { opening: access.live, meant: takingPart });
  const members = countVerdicts(access, asked, from, to);
  const counts = countPairs(members) > 0 ? members : countVerdictsOfOthers(access, asked, question, { from, to });
  return {
    verdict: overall(counts),
    pairs: counts.pairs,
    example(verdict) {
      const pair = counts.first(verdict);
      return pair === undefined ? undefined : explainPair(access, pair.from, pair.to, asked);
    },
  };
}

/** Holds a result against what is expected: of `allow` every pair, of `deny` none and no part of the traffic. */
export function judgeAccess(result: TestResult, expect: 'allow' | 'deny'): TestOutcome {
  // The pair that speaks most clearly against what is expected comes first, else one that holds.
  const order: readonly Verdict[] =
    expect === 'allow' ? ['deny', 'mixed', 'conditional', 'allow'] : ['allow', 'mixed', 'conditional', 'deny'];
  const worst = order.find((verdict) => result.pairs[verdict] > 0);
  const decided = worst === undefined ? undefined : result.example(worst);
  const outcome = worst === 'conditional' ? 'conditional' : worst === undefined || worst === expect ? 'pass' : 'fail';
  return { outcome, result, ...(decided === undefined ? {} : { decided }) };
}

/** Ends that are there, or one that is imagined or takes no part. */
type Side = BitSet | QueryEndpoint;

function sideOf(access: Access, id: string, among: { readonly opening: BitSet; readonly meant: BitSet }): Side {
  const { opening, meant } = among;
  if (isGroup(access, id)) {
    const group = access.groups.get(id);
    const held = group === undefined ? noBits : uniteBits(group.members, group.temporaryPeers);
    const members = intersectBits(intersectBits(held, opening), meant);
    return isEmptyBits(members) ? groupRepresentative(access, id) : members;
  }
  const at = access.endpoints.slots.get(id);
  return at !== undefined && hasBit(opening, at) ? bitsOf([at]) : queryEndpointOf(access, id);
}

/** A peer has no pair with itself: when it is the only one in the group, a hypothetical member answers. */
function countVerdictsOfOthers(
  access: Access,
  asked: Traffic,
  question: Question,
  sides: { from: Side; to: Side },
): VerdictCounts {
  return isGroup(access, question.from)
    ? countVerdicts(access, asked, groupRepresentative(access, question.from), sides.to)
    : countVerdicts(access, asked, sides.from, groupRepresentative(access, question.to));
}

function isGroup({ state }: Access, id: string): boolean {
  return partOf(state.get(id)) === 'group';
}

function countVerdicts(access: Access, asked: Traffic, from: Side, to: Side): VerdictCounts {
  if (isSet(from)) {
    return isSet(to) ? countMemberPairs(access, asked, from, to) : countPairsWith(access, asked, to, from, 'members');
  }
  return isSet(to) ? countPairsWith(access, asked, from, to, 'endpoint') : countPair(access, asked, from, to);
}

function isSet(side: Side): side is BitSet {
  return side instanceof Int32Array;
}

function overall(counts: VerdictCounts): Verdict {
  const found = verdicts.filter((verdict) => counts.pairs[verdict] > 0);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  // What is conditional may turn out to be allowed, and then all is.
  return found.length === 2 && found[0] === 'allow' && found[1] === 'conditional' ? 'conditional' : 'mixed';
}
