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
import type { AccessImage } from '../ruleset/access.ts';
import { accessTypeOf } from '../ruleset/object-readers.ts';
import { type AccessEndpoint, accessEndpointOf, groupRepresentative } from './access-endpoint.ts';
import { type Explanation, explainPair, type Question, trafficOfQuestion, type Verdict } from './explain.ts';
import { countMemberPairs, countPair, countPairs, countPairsWith, type VerdictCounts } from './verdict-counts.ts';

/** Result for all pairs of a question. */
export interface TestResult {
  /** Verdict for every pair. `mixed` when the pairs differ, or when only a part of the traffic passes. */
  readonly verdict: Verdict;
  readonly pairs: Readonly<Record<Verdict, number>>;
  /** Explains the first pair with this verdict, in the order of ids. */
  example(verdict: Verdict): Explanation | undefined;
}

/** Outcome of a test. `conditional` when it depends on posture checks with unknown results. */
export interface TestOutcome {
  readonly outcome: (typeof testOutcomes)[number];
  readonly result: TestResult;
  /** Explanation of the pair that decides. Absent when there is no pair. */
  readonly decided?: Explanation;
}

/**
 * Answers a question for each endpoint or, for a group, for each live peer and resource in it. A hypothetical peer that
 * is in no other group answers for a group without live members, so that tests work before any peer has enrolled.
 * `temporaryPeers`: also includes peers that exist only to reach one other peer, although rules that accept do not
 * apply to them through groups.
 */
export function testAccess(access: AccessImage, question: Question, { temporaryPeers = false } = {}): TestResult {
  const asked = trafficOfQuestion(question);
  const { peer } = access.endpoints.byType;
  const takingPart = temporaryPeers ? access.live : subtractBits(access.live, access.endpoints.temporaryPeers);
  const from = sideOf(access, question.from, { opening: intersectBits(access.live, peer), meant: takingPart });
  const to = sideOf(access, question.to, { opening: access.live, meant: takingPart });
  const members = countVerdicts(access, asked, from, to);
  const counts =
    countPairs(members) > 0 ? members : countVerdictsOfRepresentative(access, asked, question, { from, to });
  return {
    verdict: combineVerdicts(counts),
    pairs: counts.pairs,
    example(verdict) {
      const pair = counts.first(verdict);
      return pair === undefined ? undefined : explainPair(access, pair.from, pair.to, asked);
    },
  };
}

/**
 * Compares a result with the expectation: `allow` expects that every pair is allowed; `deny` expects that nothing
 * passes between any pair.
 */
export function judgeAccess(result: TestResult, expect: 'allow' | 'deny'): TestOutcome {
  // The pair that contradicts the expectation most clearly comes first, else a pair that meets it.
  const order: readonly Verdict[] =
    expect === 'allow' ? ['deny', 'mixed', 'conditional', 'allow'] : ['allow', 'mixed', 'conditional', 'deny'];
  const worst = order.find((verdict) => result.pairs[verdict] > 0);
  const decided = worst === undefined ? undefined : result.example(worst);
  const outcome = worst === 'conditional' ? 'conditional' : worst === undefined || worst === expect ? 'pass' : 'fail';
  return { outcome, result, ...(decided === undefined ? {} : { decided }) };
}

/** Live endpoints, or one endpoint that is hypothetical or not live. */
type QuestionSide = BitSet | AccessEndpoint;

function sideOf(
  access: AccessImage,
  id: string,
  among: { readonly opening: BitSet; readonly meant: BitSet },
): QuestionSide {
  const { opening, meant } = among;
  if (isGroup(access, id)) {
    const group = access.groups.get(id);
    const held = group === undefined ? noBits : uniteBits(group.members, group.temporaryPeers);
    const members = intersectBits(intersectBits(held, opening), meant);
    return isEmptyBits(members) ? groupRepresentative(access, id) : members;
  }
  const at = access.endpoints.slots.get(id);
  return at !== undefined && hasBit(opening, at) ? bitsOf([at]) : accessEndpointOf(access, id);
}

/** A peer makes no pair with itself. When it is the only one in the group, a hypothetical member answers. */
function countVerdictsOfRepresentative(
  access: AccessImage,
  asked: Traffic,
  question: Question,
  sides: { from: QuestionSide; to: QuestionSide },
): VerdictCounts {
  return isGroup(access, question.from)
    ? countVerdicts(access, asked, groupRepresentative(access, question.from), sides.to)
    : countVerdicts(access, asked, sides.from, groupRepresentative(access, question.to));
}

function isGroup({ state }: AccessImage, id: string): boolean {
  return accessTypeOf(state.get(id)) === 'group';
}

function countVerdicts(access: AccessImage, asked: Traffic, from: QuestionSide, to: QuestionSide): VerdictCounts {
  if (isEndpointSet(from)) {
    return isEndpointSet(to)
      ? countMemberPairs(access, asked, from, to)
      : countPairsWith(access, asked, to, from, 'members');
  }
  return isEndpointSet(to) ? countPairsWith(access, asked, from, to, 'endpoint') : countPair(access, asked, from, to);
}

function isEndpointSet(side: QuestionSide): side is BitSet {
  return side instanceof Int32Array;
}

function combineVerdicts(counts: VerdictCounts): Verdict {
  const found = verdicts.filter((verdict) => counts.pairs[verdict] > 0);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  // A conditional pair may turn out to be allowed, and then all pairs are.
  return found.length === 2 && found[0] === 'allow' && found[1] === 'conditional' ? 'conditional' : 'mixed';
}
