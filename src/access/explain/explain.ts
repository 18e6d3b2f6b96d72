import { type Interval, intersectIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { verdicts } from '../../model/declare/access-words.ts';
import type { PassingTraffic } from '../evaluate/layers.ts';
import { noTraffic, type Traffic, trafficAsked } from '../evaluate/traffic.ts';
import type { Access } from '../ruleset/access.ts';
import { type Protocol, partOf, readRoute } from '../ruleset/object-readers.ts';
import { type Match, type Mismatch, matchRules, weighMatches } from './matching.ts';
import { groupRepresentative, type InactiveReason, type QueryEndpoint, queryEndpointOf } from './query-endpoint.ts';

/** A question about two endpoints, which are given by their ids. */
export interface Question {
  readonly from: string;
  readonly to: string;
  /** Everything, when it is not given. */
  readonly protocol?: Protocol;
  /** All ports, when none are given; for `ssh` its usual one. */
  readonly ports?: readonly Interval[];
}

/** `mixed`: some of it is let through and some is not. */
export type Verdict = (typeof verdicts)[number];

/** Why nothing can pass, whatever rules say. */
export type Obstacle =
  | { readonly end: 'from' | 'to'; readonly why: InactiveReason }
  | { readonly end: 'from'; readonly why: 'opens_nothing' | 'same_end' | 'not_a_receiver' };

/** A rule that was considered. */
export interface Consideration extends Match {
  /** The part of what was asked that the rule is about. */
  readonly asked: Traffic;
  /** Without this rule the answer would be found elsewhere: it lets through what passes, or drops what would pass. */
  readonly decides: boolean;
  /** It would let something through, but for one thing that people can change. */
  readonly almost: boolean;
}

/** An answer with its reasons. */
export interface Explanation {
  readonly from: QueryEndpoint;
  readonly to: QueryEndpoint;
  readonly asked: Traffic;
  readonly verdict: Verdict;
  /** What passes of what was asked. */
  readonly passing: PassingTraffic;
  readonly obstacles: readonly Obstacle[];
  /** All rules: drops first, because they win, then by the names of policies. */
  readonly considered: readonly Consideration[];
}

/** Says what one end may open to another, and why. A group is answered for by a peer that is in it and in nothing else. */
export function explainAccess(access: Access, question: Question): Explanation {
  const endpoint = (id: string) =>
    partOf(access.state.get(id)) === 'group' ? groupRepresentative(access, id) : queryEndpointOf(access, id);
  return explainPair(access, endpoint(question.from), endpoint(question.to), trafficOfQuestion(question));
}

/** The traffic that a question is about. */
export function trafficOfQuestion({ protocol = 'all', ports = [] }: Question): Traffic {
  return trafficAsked(protocol, ports);
}

/** The same for ends that are known already. */
export function explainPair(access: Access, from: QueryEndpoint, to: QueryEndpoint, asked: Traffic): Explanation {
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
    // What is certain anyway is not decided by a rule that depends on something.
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
      return { ...match, asked: own, decides, almost: own.length > 0 && isAlmost(match) };
    }),
  };
}

const curable: readonly Mismatch[] = ['policy_disabled', 'rule_disabled', 'posture_failed'];

function isAlmost({ drop, mismatches }: Match): boolean {
  return !drop && mismatches.length === 1 && curable.some((one) => mismatches.includes(one));
}

/** The verdict on traffic of which so much passes. */
function verdictOn(asked: Traffic, { sure, possible }: PassingTraffic): Verdict {
  if (subtractIntervals(asked, sure).length === 0) return 'allow';
  if (possible.length === 0) return 'deny';
  return subtractIntervals(asked, possible).length === 0 ? 'conditional' : 'mixed';
}

function obstaclesBetween(access: Access, from: QueryEndpoint, to: QueryEndpoint): readonly Obstacle[] {
  const object = access.state.get(to.id);
  const isRoute = object !== undefined && partOf(object) === 'route';
  const receives = !isRoute || from.groupsAmong(readRoute(object).groups).length > 0;
  const found: readonly (Obstacle | false)[] = [
    !from.opens && { end: 'from', why: 'opens_nothing' },
    from.id === to.id && !from.imagined && { end: 'from', why: 'same_end' },
    from.inactive !== undefined && { end: 'from', why: from.inactive },
    to.inactive !== undefined && { end: 'to', why: to.inactive },
    from.opens && !receives && { end: 'from', why: 'not_a_receiver' },
  ];
  return found.filter((obstacle) => obstacle !== false);
}

function shares(a: Traffic, b: Traffic): boolean {
  return intersectIntervals(a, b).length > 0;
}
