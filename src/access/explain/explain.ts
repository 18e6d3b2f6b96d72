import { type Interval, intersectIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { verdicts } from '../../model/declare/access-words.ts';
import type { PassingTraffic } from '../evaluate/layers.ts';
import { noTraffic, type Traffic, trafficInQuestion } from '../evaluate/traffic.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { accessTypeOf, type Protocol, readRoute } from '../ruleset/object-readers.ts';
import { type AccessEndpoint, accessEndpointOf, groupRepresentative, type InactiveReason } from './access-endpoint.ts';
import { type Match, type Mismatch, matchRules, weighMatches } from './matching.ts';

/** A question about two endpoints or groups, given by id. */
export interface Question {
  readonly from: string;
  readonly to: string;
  /** Absent: all traffic. */
  readonly protocol?: Protocol;
  /** Absent or empty: all ports, or the usual port for `ssh`. */
  readonly ports?: readonly Interval[];
}

/** Answer to a question. `mixed`: a part of the traffic passes and a part does not. */
export type Verdict = (typeof verdicts)[number];

/** Reason why nothing can pass, whatever the rules are. */
export type Obstacle =
  | { readonly end: 'from' | 'to'; readonly why: InactiveReason }
  | { readonly end: 'from'; readonly why: 'opens_nothing' | 'same_end' | 'not_a_receiver' };

/** A rule that was considered. */
export interface ConsideredRule extends Match {
  /** The part of the traffic in question that the rule covers. */
  readonly asked: Traffic;
  /**
   * Whether the rule decides the answer: it accepts traffic that passes, or drops traffic that would otherwise pass.
   */
  readonly decides: boolean;
  /** Whether the rule would let something through but for one mismatch that an operator can remove. */
  readonly almost: boolean;
}

/** An answer with its reasons. */
export interface Explanation {
  readonly from: AccessEndpoint;
  readonly to: AccessEndpoint;
  readonly asked: Traffic;
  readonly verdict: Verdict;
  /** The part of the traffic in question that passes. */
  readonly passing: PassingTraffic;
  readonly obstacles: readonly Obstacle[];
  /** All rules: drops first, because they win, then by name of the policy. */
  readonly considered: readonly ConsideredRule[];
}

/**
 * Explains what one endpoint may open to another. A hypothetical peer that is in no other group answers for a group.
 */
export function explainAccess(access: AccessImage, question: Question): Explanation {
  const endpoint = (id: string) =>
    accessTypeOf(access.state.get(id)) === 'group' ? groupRepresentative(access, id) : accessEndpointOf(access, id);
  return explainPair(access, endpoint(question.from), endpoint(question.to), trafficOfQuestion(question));
}

/** Returns the traffic of a question. */
export function trafficOfQuestion({ protocol = 'all', ports = [] }: Question): Traffic {
  return trafficInQuestion(protocol, ports);
}

/** Same as `explainAccess`, for endpoints that are resolved already. */
export function explainPair(
  access: AccessImage,
  from: AccessEndpoint,
  to: AccessEndpoint,
  asked: Traffic,
): Explanation {
  const obstacles = obstaclesBetween(access, from, to);
  const matches = matchRules(access, from, to);
  const weighed = obstacles.length > 0 ? { sure: noTraffic, possible: noTraffic } : weighMatches(matches);
  const passing = {
    sure: intersectIntervals(asked, weighed.sure),
    possible: intersectIntervals(asked, weighed.possible),
  };
  const accepted = intersectIntervals(asked, weighMatches(matches.filter(({ drop }) => !drop)).possible);
  const matters = {
    accept: passing.possible,
    drop: accepted,
    // A rule that depends on unknown facts does not decide about traffic whose result is certain anyway.
    openAccept: subtractIntervals(passing.possible, passing.sure),
    openDrop: intersectIntervals(accepted, weighed.possible),
  };
  return {
    from,
    to,
    asked,
    verdict: verdictOn(asked, passing),
    passing,
    obstacles,
    considered: matches.map((match) => {
      const own = intersectIntervals(asked, match.traffic);
      const matter = matters[match.drop ? (match.sure ? 'drop' : 'openDrop') : match.sure ? 'accept' : 'openAccept'];
      const decides = obstacles.length === 0 && match.mismatches.length === 0 && shares(own, matter);
      return { ...match, asked: own, decides, almost: own.length > 0 && isNearMiss(match) };
    }),
  };
}

const fixableMismatches: readonly Mismatch[] = ['policy_disabled', 'rule_disabled', 'posture_failed'];

function isNearMiss({ drop, mismatches }: Match): boolean {
  return !drop && mismatches.length === 1 && fixableMismatches.some((one) => mismatches.includes(one));
}

/** Returns the verdict on traffic, from the part of it that passes. */
function verdictOn(asked: Traffic, { sure, possible }: PassingTraffic): Verdict {
  if (subtractIntervals(asked, sure).length === 0) return 'allow';
  if (possible.length === 0) return 'deny';
  return subtractIntervals(asked, possible).length === 0 ? 'conditional' : 'mixed';
}

function obstaclesBetween(access: AccessImage, from: AccessEndpoint, to: AccessEndpoint): readonly Obstacle[] {
  const object = access.state.get(to.id);
  const isRoute = object !== undefined && accessTypeOf(object) === 'route';
  const receives = !isRoute || from.groupsAmong(readRoute(object).groups).length > 0;
  const found: readonly (Obstacle | false)[] = [
    !from.opensConnections && { end: 'from', why: 'opens_nothing' },
    from.id === to.id && !from.imagined && { end: 'from', why: 'same_end' },
    from.inactive !== undefined && { end: 'from', why: from.inactive },
    to.inactive !== undefined && { end: 'to', why: to.inactive },
    from.opensConnections && !receives && { end: 'from', why: 'not_a_receiver' },
  ];
  return found.filter((obstacle) => obstacle !== false);
}

function shares(a: Traffic, b: Traffic): boolean {
  return intersectIntervals(a, b).length > 0;
}
