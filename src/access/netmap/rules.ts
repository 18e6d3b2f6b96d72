import { hasBit } from '../../lib/bits/bit-set.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { DestinationAt } from '../evaluate/neighbours.ts';
import { flowsAbout } from '../evaluate/reachability.ts';
import type { Access } from '../ruleset/access.ts';
import { flowAt, sideOf } from '../ruleset/flows.ts';
import { flowRuleAt, flowRuleWithin, flowTableOf, type Limit, type OtherSide } from './flow-rules.ts';
import type { Entry, Section } from './section.ts';

/** Collects the peer sets that the rules of one map name. Filled while rules are written. */
export interface Sets {
  add(set: Entry): void;
}

/** Returns the rules of the flows about an endpoint. Each rule names the set of peers on the other side. */
export function rulesOf(access: Access, at: number, { about, other, sets, limit }: RulesAbout): Section {
  const table = flowTableOf(access);
  const rules: Entry[] = [];
  for (const nth of about) {
    const flow = flowAt(access.flows, nth);
    const { sure, possible } = sideOf(flow, other === 'to' ? 'from' : 'to');
    if (!hasBit(flow.drop ? possible : sure, at)) continue;
    const { rule, set } =
      limit === undefined ? flowRuleAt(access, table, nth, other) : flowRuleWithin(access, nth, limit);
    if (set.members?.length === 0) continue;
    sets.add(set);
    rules.push(rule);
  }
  return table.inOrder ? rules : rules.sort((a, b) => compareTexts(a.id, b.id));
}

interface RulesAbout {
  /** Positions of the flows in the image's list. */
  readonly about: readonly number[];
  readonly other: OtherSide;
  readonly sets: Sets;
  readonly limit?: Limit | undefined;
}

/**
 * Returns the rules that gateways apply to traffic to a destination. Only its receivers use a route, whatever policies
 * permit.
 */
export function rulesTo(access: Access, { at, destination }: DestinationAt, sets: Sets): Section {
  const guardedRoute = access.guardedRoutes.find(({ slot }) => slot === at);
  const limit =
    guardedRoute === undefined ? undefined : { id: destination.object.id, receivers: guardedRoute.receivers };
  return rulesOf(access, at, { about: flowsAbout(access, at, 'to'), other: 'from', sets, limit });
}
