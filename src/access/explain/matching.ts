import { mergeIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { PassingTraffic } from '../evaluate/layers.ts';
import { compareTexts, findNamedObject, type NamedObject } from '../evaluate/named.ts';
import { allTraffic, noTraffic, type Traffic, trafficOf } from '../evaluate/traffic.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { policyOfIngressPort } from '../ruleset/ingress.ts';
import {
  accessTypeOf,
  kindOf,
  type Policy,
  type Rule,
  type RuleSide,
  readChecks,
  readPolicy,
  readRoute,
} from '../ruleset/object-readers.ts';
import { type CheckName, checkResults, combineResults, type PostureResult } from '../ruleset/posture.ts';
import type { AccessEndpoint } from './access-endpoint.ts';

/** Reason why a rule does not apply to a connection. */
export type Mismatch =
  | 'policy_disabled'
  | 'rule_disabled'
  | 'source_differs'
  | 'destination_differs'
  | 'posture_failed'
  /** The rule would apply if it were bidirectional. */
  | 'one_way';

/** Result of a posture check for the peer on the source side of the rule. */
export interface CheckOutcome {
  readonly check: NamedObject;
  readonly result: PostureResult;
  /** Parts of the check that decide the result: the failed parts, else the unknown parts. */
  readonly parts: readonly CheckName[];
}

/** Result of matching a rule with a connection, in one direction. */
export interface Match {
  /** Absent for a route without access control groups, which lets all its receivers through. */
  readonly by?: { readonly policy: Policy; readonly rule: Rule };
  readonly reverse: boolean;
  readonly drop: boolean;
  readonly traffic: Traffic;
  /** Groups and objects of the rule that cover each endpoint. */
  readonly from: readonly NamedObject[];
  readonly to: readonly NamedObject[];
  readonly checks: readonly CheckOutcome[];
  /** The offline ingress peer that the forwarding peer stands in for. */
  readonly standsInFor?: NamedObject;
  /** Empty when the rule applies to the connection, or may apply. */
  readonly mismatches: readonly Mismatch[];
  readonly sure: boolean;
}

/** Matches every rule with a connection. Returns drops first, because they win, then sorted by name of the policy. */
export function matchRules(access: AccessImage, from: AccessEndpoint, to: AccessEndpoint): readonly Match[] {
  const policies = [...access.state.ofKind(kindOf.policy).map(readPolicy), ...ingressPoliciesTo(access, to)];
  const matches = policies.flatMap((policy) =>
    policy.rules.flatMap((rule) => matchRule(access, policy, rule, from, to)),
  );
  return [...matchUnguardedRoute(access, from, to), ...matches].sort(compareMatches);
}

/** Returns the ingress ports of the destination peer, in the form of policies. */
function ingressPoliciesTo(access: AccessImage, { id }: AccessEndpoint): readonly Policy[] {
  return access.state.childrenOf(id, kindOf.ingressPort).flatMap((port) => policyOfIngressPort(port, access) ?? []);
}

/** Returns the traffic that passes when these rules are weighed. */
export function weighMatches(matches: readonly Match[]): PassingTraffic {
  const traffic = (drop: boolean, surely: boolean) =>
    mergeIntervals(
      matches
        .filter((match) => match.mismatches.length === 0 && match.drop === drop && (match.sure || !surely))
        .flatMap((match) => match.traffic),
    );
  return {
    sure: subtractIntervals(traffic(false, true), traffic(true, false)),
    possible: subtractIntervals(traffic(false, false), traffic(true, true)),
  };
}

/**
 * Matches a rule in each direction that covers both endpoints, or forward if none does. A rule that is not
 * bidirectional is matched forward only.
 */
function matchRule(
  access: AccessImage,
  policy: Policy,
  rule: Rule,
  from: AccessEndpoint,
  to: AccessEndpoint,
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
  access: AccessImage,
  policy: Policy,
  rule: Rule,
  { from, to, reverse }: { readonly from: AccessEndpoint; readonly to: AccessEndpoint; readonly reverse: boolean },
): Match {
  const [own, other] = reverse ? [rule.destinations, rule.sources] : [rule.sources, rule.destinations];
  const named = (ids: readonly string[]) => ids.map((id) => findNamedObject(id, access.state));
  const fromNames = from.opensConnections ? named(namesFor(own, from, rule)) : [];
  const toNames = named([...namesFor(other, to, rule), ...(reverse ? [] : to.guardsAmong(other.groups))]);
  const source = reverse ? to : from;
  const checks = source.facts === undefined ? [] : evaluateChecks(access, policy.postures, source.facts);
  const posture = combineResults(checks.map(({ result }) => result));
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
    ...(standsInFor === undefined ? {} : { standsInFor: findNamedObject(standsInFor, access.state) }),
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

function namesFor({ groups, one }: RuleSide, endpoint: AccessEndpoint, { action }: Rule): readonly string[] {
  return [...(one === endpoint.id && !endpoint.imagined ? [one] : []), ...endpoint.groupsAmong(groups, action)];
}

/** Evaluates posture checks. A deleted check fails for every peer. */
function evaluateChecks(
  access: AccessImage,
  ids: readonly string[],
  facts: NonNullable<AccessEndpoint['facts']>,
): readonly CheckOutcome[] {
  return ids.map((id) => {
    const object = access.state.get(id);
    const results = object === undefined ? [] : checkResults(readChecks(object), facts);
    const result = object === undefined ? 'fail' : combineResults(results.map((part) => part.result));
    const parts = results.filter((part) => result !== 'pass' && part.result === result).map(({ check }) => check);
    return { check: findNamedObject(id, access.state), result, parts };
  });
}

/** Matches the route itself: without access control groups, it lets all its receivers through. */
function matchUnguardedRoute(access: AccessImage, from: AccessEndpoint, to: AccessEndpoint): readonly Match[] {
  const object = access.state.get(to.id);
  if (object === undefined || accessTypeOf(object) !== 'route') return [];
  const { groups, guards } = readRoute(object);
  if (guards.length > 0) return [];
  const receiving = from.opensConnections
    ? from.groupsAmong(groups).map((id) => findNamedObject(id, access.state))
    : [];
  return [
    {
      reverse: false,
      drop: false,
      traffic: receiving.length > 0 ? allTraffic : noTraffic,
      from: receiving,
      to: [findNamedObject(to.id, access.state)],
      checks: [],
      mismatches: receiving.length > 0 ? [] : ['source_differs'],
      sure: true,
    },
  ];
}

function compareMatches(a: Match, b: Match): number {
  return Number(b.drop) - Number(a.drop) || compareTexts(sortKeyOf(a), sortKeyOf(b));
}

/** Sort key: name of the policy, its id, the rule, and the direction. */
function sortKeyOf({ by, reverse }: Match): string {
  return by === undefined ? '' : [by.policy.name, by.policy.id, by.rule.key, reverse ? '1' : '0'].join('\0');
}
