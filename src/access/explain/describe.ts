import { subtractIntervals } from '../../lib/bits/intervals.ts';
import type { NamedObject } from '../evaluate/named.ts';
import { missingTrafficText, trafficText } from '../evaluate/traffic.ts';
import type { Policy, RuleAction } from '../ruleset/object-readers.ts';
import type { AccessEndpoint } from './access-endpoint.ts';
import { consideredRuleText, verdictText } from './describe-text.ts';
import type { ConsideredRule, Explanation, Obstacle, Verdict } from './explain.ts';
import type { CheckOutcome, Mismatch } from './matching.ts';

/** An explanation as plain data. */
export interface DescribedAccess {
  readonly from: DescribedEndpoint;
  readonly to: DescribedEndpoint;
  readonly asked: string;
  readonly verdict: Verdict;
  /** Part of the traffic in question that passes. `passesIfPostureAllows`: the part that depends on posture checks. */
  readonly passes?: string;
  readonly passesIfPostureAllows?: string;
  /** The answer and its reason, as a sentence. */
  readonly message: string;
  readonly obstacles: readonly Obstacle[];
  readonly rules: readonly DescribedRule[];
}

/** One end of an explanation. */
export interface DescribedEndpoint extends NamedObject {
  /** Set when a hypothetical peer stands in: for an id that is not an endpoint of the account, or for a group. */
  readonly imagined?: true;
}

/** A rule that was considered. */
export interface DescribedRule {
  /** The ingress port, if the rule belongs to one. */
  readonly ingressPort?: Pick<Policy, 'id' | 'name' | 'declared'> & { readonly standsInFor?: NamedObject };
  /** Absent for ingress ports, and for a route without access control groups, which lets all its receivers through. */
  readonly policy?: Pick<Policy, 'id' | 'name' | 'origin' | 'declared'>;
  readonly rule?: { readonly id: string; readonly name: string };
  readonly action: RuleAction;
  /** `reverse`: from the destinations of the rule to its sources. */
  readonly direction: 'forward' | 'reverse';
  readonly traffic: string;
  readonly matches: boolean;
  readonly decides: boolean;
  /** Set when the rule would let something through but for one mismatch that an operator can remove. */
  readonly almost?: true;
  /** Groups and objects of the rule that cover each endpoint. */
  readonly from: readonly NamedObject[];
  readonly to: readonly NamedObject[];
  readonly checks: readonly CheckOutcome[];
  readonly mismatches: readonly Mismatch[];
  readonly message: string;
}

/** Returns an explanation as plain data for API clients, with sentences for users. */
export function describeAccess(explanation: Explanation): DescribedAccess {
  const { from, to, asked, verdict, passing, obstacles, considered } = explanation;
  const open = subtractIntervals(passing.possible, passing.sure);
  return {
    from: describeEndpoint(from),
    to: describeEndpoint(to),
    asked: trafficText(asked),
    verdict,
    ...(passing.sure.length === 0 ? {} : { passes: trafficText(passing.sure) }),
    ...(open.length === 0 ? {} : { passesIfPostureAllows: trafficText(open) }),
    message: verdictText(explanation),
    obstacles,
    rules: considered.map((consideration) => describeRule(explanation, consideration)),
  };
}

function describeEndpoint({ type, id, name, imagined }: AccessEndpoint): DescribedEndpoint {
  return { type, id, name, ...(imagined ? { imagined } : {}) };
}

function describeRule(explanation: Explanation, consideration: ConsideredRule): DescribedRule {
  const { by, standsInFor, drop, reverse, traffic, decides, almost, from, to, checks, mismatches } = consideration;
  return {
    ...(by === undefined ? {} : describeSource(by, standsInFor)),
    action: drop ? 'drop' : 'accept',
    direction: reverse ? 'reverse' : 'forward',
    traffic: drop ? missingTrafficText(traffic) : trafficText(traffic),
    matches: mismatches.length === 0,
    decides,
    ...(almost ? { almost } : {}),
    from,
    to,
    checks,
    mismatches,
    message: consideredRuleText(explanation, consideration),
  };
}

function describeSource(
  { policy, rule }: NonNullable<ConsideredRule['by']>,
  standsInFor: ConsideredRule['standsInFor'],
): Pick<DescribedRule, 'policy' | 'rule' | 'ingressPort'> {
  const { id, name, origin, declared, ingress } = policy;
  if (ingress !== undefined)
    return { ingressPort: { id, name, declared, ...(standsInFor === undefined ? {} : { standsInFor }) } };
  return {
    policy: { id, name, ...(origin === undefined ? {} : { origin }), declared },
    rule: { id: rule.id, name: rule.name },
  };
}
