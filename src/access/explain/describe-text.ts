import { intersectIntervals, subtractIntervals } from '../../lib/bits/intervals.ts';
import type { NamedObject } from '../evaluate/named.ts';
import { missingTrafficText, type Traffic, trafficText } from '../evaluate/traffic.ts';
import type { AccessEndpoint } from './access-endpoint.ts';
import type { ConsideredRule, Explanation, Obstacle } from './explain.ts';
import type { Mismatch } from './matching.ts';

/** Returns the answer and its reason as a sentence. */
export function verdictText(explanation: Explanation): string {
  const { from, to, asked, verdict, passing, obstacles, considered } = explanation;
  const deciding = considered.filter(({ decides }) => decides);
  const open = `open ${trafficText(asked)} to ${endpointText(to)}`;
  const [obstacle] = obstacles;
  if (obstacle !== undefined) return `${endpointText(from)} may not ${open}: ${obstacleText(explanation, obstacle)}`;
  // A rule may match in both directions. It is named only once as a reason.
  const reasons = [...new Set(deciding.map((one) => `${ruleText(one)} ${effectText(explanation, one)}`))].join('; ');
  switch (verdict) {
    case 'allow':
      return `${endpointText(from)} may ${open}: ${reasons}`;
    case 'conditional':
      return `whether ${endpointText(from)} may ${open} depends on posture checks: ${reasons}`;
    case 'deny':
      return `${endpointText(from)} may not ${open}: ${reasons === '' ? `no rule lets it through${nearMissText(explanation)}` : reasons}`;
    case 'mixed': {
      const passes = trafficText(passing.possible);
      const rest = missingTrafficText(subtractIntervals(asked, passing.possible));
      const part = passes.length < rest.length ? `namely ${passes}` : `not ${rest}`;
      return `${endpointText(from)} may ${open} only in part, ${part}: ${reasons}`;
    }
    default:
      return verdict satisfies never;
  }
}

/** Maximum number of rules to name that would let the traffic through but for one mismatch. */
const maxNearMisses = 2;

/** Names the rules that one mismatch keeps from letting the traffic through, such as a disabled policy. */
function nearMissText(explanation: Explanation): string {
  const almost = explanation.considered.filter((one) => one.almost);
  const texts = almost
    .slice(0, maxNearMisses)
    .flatMap((one) =>
      one.mismatches.map((why) => `${ruleText(one)} would, but ${mismatchText(explanation, one, why)}`),
    );
  return texts.length === 0 ? '' : `; ${texts.join('; ')}`;
}

/**
 * Returns the effect of a rule on the traffic in question, or why it has none, as a sentence without the name of the
 * rule.
 */
export function consideredRuleText(explanation: Explanation, one: ConsideredRule): string {
  const { mismatches, asked, decides, traffic } = one;
  if (mismatches.length > 0) return mismatches.map((mismatch) => mismatchText(explanation, one, mismatch)).join('; ');
  if (asked.length === 0)
    return `applies to ${one.drop ? missingTrafficText(traffic) : trafficText(traffic)}, not to the traffic in question`;
  return `${effectText(explanation, one)}${decides ? '' : whyNot(explanation, one)}: ${membershipText(explanation, one)}`;
}

/** Returns why a rule that applies to the connection does not decide the answer. */
function whyNot(explanation: Explanation, { asked, drop, sure }: ConsideredRule): string {
  const { obstacles, passing, considered } = explanation;
  const [obstacle] = obstacles;
  if (obstacle !== undefined) return `, but ${obstacleText(explanation, obstacle)}`;
  if (drop) {
    const others = considered.some((other) => other.drop && other.decides && shares(other.asked, asked));
    return others ? ', but that is dropped anyway' : ', which no rule lets through';
  }
  return !sure && shares(asked, passing.sure) ? ', but that passes anyway' : ', but drop rules take precedence';
}

function shares(a: Traffic, b: Traffic): boolean {
  return intersectIntervals(a, b).length > 0;
}

function ruleText({ by }: ConsideredRule): string {
  if (by?.policy.ingress !== undefined) return `ingress port \`${by.policy.name}\``;
  return by === undefined ? 'the route itself' : `rule \`${by.rule.name}\` of policy \`${by.policy.name}\``;
}

function effectText(explanation: Explanation, { drop, asked, sure, checks, reverse }: ConsideredRule): string {
  const effect = drop ? `drops ${missingTrafficText(asked)}` : `lets ${trafficText(asked)} through`;
  if (sure) return effect;
  const open = checks.filter(({ result }) => result === 'unknown').map(({ check }) => check);
  return `${effect} if ${endpointText(checkedEndpoint(explanation, reverse))} passes ${namesText(open)}, which is not known`;
}

function membershipText({ from, to }: Explanation, one: ConsideredRule): string {
  if (one.by?.policy.ingress !== undefined) {
    const instead = one.standsInFor === undefined ? '' : ` while \`${one.standsInFor.name}\` is offline`;
    return `${endpointText(from)} forwards it to ${endpointText(to)}${instead}`;
  }
  return `${whereText(from, one.from)}, ${whereText(to, one.to)}`;
}

/** Returns how a rule covers an endpoint: by groups that contain or guard it, or by the endpoint itself. */
function whereText(endpoint: AccessEndpoint, names: readonly NamedObject[]): string {
  const groups = names.filter(({ id }) => id !== endpoint.id);
  if (endpoint.imagined && endpoint.type === 'group')
    return `${endpointText(endpoint)} is covered by ${namesText(names)}`;
  if (groups.length === 0) return `${endpointText(endpoint)} is named directly`;
  return `${endpointText(endpoint)} is ${endpoint.type === 'route' ? 'guarded by' : 'in'} ${namesText(groups)}`;
}

function mismatchText(explanation: Explanation, one: ConsideredRule, mismatch: Mismatch): string {
  const { from, to } = explanation;
  const { reverse, checks } = one;
  switch (mismatch) {
    case 'policy_disabled':
      return one.by?.policy.ingress === undefined ? 'the policy is disabled' : 'the ingress port is disabled';
    case 'rule_disabled':
      return 'the rule is disabled';
    case 'source_differs':
      return `${endpointText(from)} is not among its ${reverse ? 'destinations' : 'sources'}${temporaryPeerText(from, one, !reverse)}`;
    case 'destination_differs':
      return `${endpointText(to)} is not among its ${reverse ? 'sources' : 'destinations'}${temporaryPeerText(to, one, reverse)}`;
    case 'posture_failed': {
      const failed = checks.filter(({ result }) => result === 'fail');
      const parts = failed.flatMap((check) => check.parts);
      const which = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
      const names = namesText(failed.map(({ check }) => check));
      return `${endpointText(checkedEndpoint(explanation, reverse))} does not pass ${names}${which}`;
    }
    case 'one_way':
      return `it only applies from ${endpointText(to)} to ${endpointText(from)}; with \`bidirectional\` it would apply in both directions`;
    default:
      return mismatch satisfies never;
  }
}

/** Explains why a group of the rule does not count for a temporary peer in the group. */
function temporaryPeerText(endpoint: AccessEndpoint, { by }: ConsideredRule, atSources: boolean): string {
  const groups = (atSources ? by?.rule.sources : by?.rule.destinations)?.groups ?? [];
  if (endpoint.groupsAmong(groups, 'drop').length === 0) return '';
  return ': it is a temporary peer for access to one peer, and permissions of groups do not apply to it';
}

function obstacleText({ from, to }: Explanation, { end, why }: Obstacle): string {
  const queried = end === 'from' ? from : to;
  const endpoint = endpointText(queried);
  switch (why) {
    case 'waiting':
      return `${endpoint} waits for approval`;
    case 'kept_out':
      return `endpoint security keeps ${endpoint} out: ${queried.disapproval ?? ''}`;
    case 'disabled':
      return `${endpoint} is disabled`;
    case 'unreachable':
      return `no active peer routes traffic to ${endpoint}`;
    case 'opens_nothing':
      return `${endpoint} is not a peer, and only peers open connections`;
    case 'same_end':
      return 'both ends are the same';
    case 'not_a_receiver':
      return `${endpoint} is in none of the groups that receive ${endpointText(to)}`;
    default:
      return why satisfies never;
  }
}

function checkedEndpoint({ from, to }: Explanation, reverse: boolean): AccessEndpoint {
  return reverse ? to : from;
}

function endpointText({ type, name, imagined }: AccessEndpoint): string {
  if (!imagined) return `\`${name}\``;
  return type === 'group' ? `a peer of \`${name}\`` : `\`${name}\` (not enrolled)`;
}

function namesText(named: readonly NamedObject[]): string {
  const names = named.map(({ name }) => `\`${name}\``);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
