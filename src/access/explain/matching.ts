import { joinIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { PassingTraffic } from '../evaluate/layers.ts';
import { compareTexts, type Named, nameOf } from '../evaluate/named.ts';
import { allTraffic, noTraffic, type Traffic, trafficOf } from '../evaluate/traffic.ts';
import type { Access } from '../ruleset/access.ts';
import { policyOfIngressPort } from '../ruleset/ingress.ts';
import {
  kindOf,
  type Policy,
  partOf,
  type Rule,
  readChecks,
  readPolicy,
  readRoute,
  type Side,
} from '../ruleset/object-readers.ts';
import { type CheckName, checkResults, combine, type PostureResult } from '../ruleset/posture.ts';
import type { QueryEndpoint } from './query-endpoint.ts';

/** Why a rule does not speak about a connection. */
export type Mismatch =
  | 'policy_disabled'
  | 'rule_disabled'
  | 'source_differs'
  | 'destination_differs'
  | 'posture_failed'
  /** It would, if it were bidirectional. */
  | 'one_way';

/** What a posture check says about the peer of the sources. */
export interface CheckOutcome {
  readonly check: Named;
  readonly result: PostureResult;
  /** The parts of the check that decide: those that fail, else those that are unknown. */
  readonly parts: readonly CheckName[];
}

/** A rule held against a connection, in one direction. */
export interface Match {
  /** Absent where a route without access control groups lets its receivers through. */
  readonly by?: { readonly policy: Policy; readonly rule: Rule };
  readonly reverse: boolean;
  readonly drop: boolean;
  readonly traffic: Traffic;
  /** By which of its names the rule means each end. */
  readonly from: readonly Named[];
  readonly to: readonly Named[];
  readonly checks: readonly CheckOutcome[];
  /** Where an ingress port is forwarded by a peer that stands in for another one: that one. */
  readonly standsInFor?: Named;
  /** Empty when the rule speaks about the connection, or may do so. */
  readonly mismatches: readonly Mismatch[];
  readonly sure: boolean;
}

/** Every rule held against a connection: drops first, because they win, then by the names of policies. */
export function matchRules(access: Access, from: QueryEndpoint, to: QueryEndpoint): readonly Match[] {
  const policies = [...access.state.ofKind(kindOf.policy).map(readPolicy), ...ingressTo(access, to)];
  const matches = policies.flatMap((policy) =>
    policy.rules.flatMap((rule) => matchRule(access, policy, rule, from, to)),
  );
  return [...matchOwn(access, from, to), ...matches].sort(compareMatches);
}

/** The ingress ports of the peer that is asked about, in the form of policies. */
function ingressTo(access: Access, { id }: QueryEndpoint): readonly Policy[] {
  return access.state.childrenOf(id, kindOf.ingressPort).flatMap((port) => policyOfIngressPort(port, access) ?? []);
}

/** What passes when these rules are weighed. */
export function weighMatches(matches: readonly Match[]): PassingTraffic {
  const traffic = (drop: boolean, surely: boolean) =>
    joinIntervals(
      matches
        .filter((match) => match.mismatches.length === 0 && match.drop === drop && (match.sure || !surely))
        .flatMap((match) => match.traffic),
    );
  return {
    sure: subtractIntervals(traffic(false, true), traffic(true, false)),
    possible: subtractIntervals(traffic(false, false), traffic(true, true)),
  };
}

/** A rule in the direction that matches; in its own when none does, in both when both do. */
function matchRule(
  access: Access,
  policy: Policy,
  rule: Rule,
  from: QueryEndpoint,
  to: QueryEndpoint,
): readonly Match[] {
  const forward = matchDirection(access, policy, rule, { from, to, reverse: false });
  const reverse = matchDirection(access, policy, rule, { from, to, reverse: true });
  if (!rule.bidirectional) {
    const isOneWay = !namesBoth(forward) && namesBoth(reverse);
    return [isOneWay ? { ...forward, mismatches: [...forward.mismatches, 'one_way'] } : forward];
  }
  const meant = [forward, reverse].filter(namesBoth);
  return meant.length > 0 ? meant : [forward];
}

function namesBoth({ from, to }: Match): boolean {
  return from.length > 0 && to.length > 0;
}

function matchDirection(
  access: Access,
  policy: Policy,
  rule: Rule,
  { from, to, reverse }: { readonly from: QueryEndpoint; readonly to: QueryEndpoint; readonly reverse: boolean },
): Match {
  const [own, other] = reverse ? [rule.destinations, rule.sources] : [rule.sources, rule.destinations];
  const named = (ids: readonly string[]) => ids.map((id) => nameOf(id, access.state));
  const fromNames = from.opens ? named(namesFor(own, from, rule)) : [];
  const toNames = named([...namesFor(other, to, rule), ...(reverse ? [] : to.guardsAmong(other.groups))]);
  const source = reverse ? to : from;
  const checks = source.facts === undefined ? [] : askChecks(access, policy.postures, source.facts);
  const posture = combine(checks.map(({ result }) => result));
  const mismatches: readonly (Mismatch | false)[] = [
    !policy.enabled && 'policy_disabled',
    !rule.enabled && 'rule_disabled',
    fromNames.length === 0 && 'source_differs',
    toNames.length === 0 && 'destination_differs',
    posture === 'fail' && 'posture_failed',
  ];
  const standsInFor = policy.ingress?.standsInFor;
  return {
    by: { policy, rule },
    ...(standsInFor === undefined ? {} : { standsInFor: nameOf(standsInFor, access.state) }),
    reverse,
    drop: rule.action === 'drop',
    traffic: trafficOf(rule),
    from: fromNames,
    to: toNames,
    checks,
    mismatches: mismatches.filter((mismatch) => mismatch !== false),
    sure: posture === 'pass',
  };
}

function namesFor({ groups, one }: Side, endpoint: QueryEndpoint, { action }: Rule): readonly string[] {
  return [...(one === endpoint.id && !endpoint.imagined ? [one] : []), ...endpoint.groupsAmong(groups, action)];
}

/** A posture check that is gone passes for no peer. */
function askChecks(
  access: Access,
  ids: readonly string[],
  facts: NonNullable<QueryEndpoint['facts']>,
): readonly CheckOutcome[] {
  return ids.map((id) => {
    const object = access.state.get(id);
    const results = object === undefined ? [] : checkResults(readChecks(object), facts);
    const result = object === undefined ? 'fail' : combine(results.map((part) => part.result));
    const parts = results.filter((part) => result !== 'pass' && part.result === result).map(({ check }) => check);
    return { check: nameOf(id, access.state), result, parts };
  });
}

/** What a route lets through by itself: all of its receivers, unless groups guard it. */
function matchOwn(access: Access, from: QueryEndpoint, to: QueryEndpoint): readonly Match[] {
  const object = access.state.get(to.id);
  if (object === undefined || partOf(object) !== 'route') return [];
  const { groups, guards } = readRoute(object);
  if (guards.length > 0) return [];
  const receiving = from.opens ? from.groupsAmong(groups).map((id) => nameOf(id, access.state)) : [];
  return [
    {
      reverse: false,
      drop: false,
      traffic: receiving.length > 0 ? allTraffic : noTraffic,
      from: receiving,
      to: [nameOf(to.id, access.state)],
      checks: [],
      mismatches: receiving.length > 0 ? [] : ['source_differs'],
      sure: true,
    },
  ];
}

function compareMatches(a: Match, b: Match): number {
  return Number(b.drop) - Number(a.drop) || compareTexts(orderOf(a), orderOf(b));
}

/** By the name of the policy, its id, the rule, and the direction. */
function orderOf({ by, reverse }: Match): string {
  return by === undefined ? '' : [by.policy.name, by.policy.id, by.rule.key, reverse ? '1' : '0'].join('\0');
}
