import { hasBit } from '../../lib/bits/bit-set.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { DestinationAt } from '../evaluate/neighbours.ts';
import { flowsAbout } from '../evaluate/reachability.ts';
import type { Access } from '../ruleset/access.ts';
import { flowAt, sideOf } from '../ruleset/flows.ts';
import { flowRuleAt, flowRuleWithin, flowTableOf, type Limit, type OtherSide } from './flow-rules.ts';
import type { Entry, Section } from './section.ts';

/** The sets of peers that the rules of one map name; filled while rules are written. */
export interface Sets {
  add(set: Entry): void;
}

/** The rules of flows that speak about an end, each naming the set of peers on the other side. */
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
  /** The flows, by their places in the list of the image. */
  readonly about: readonly number[];
  readonly other: OtherSide;
  readonly sets: Sets;
  readonly limit?: Limit | undefined;
}

/** What gateways let through to a destination: only receivers use a route, whatever policies say. */
export function rulesTo(access: Access, { at, destination }: DestinationAt, sets: Sets): Section {
  const guardedRoute = access.guardedRoutes.find(({ slot }) => slot === at);
  const limit =
    guardedRoute === undefined ? undefined : { id: destination.object.id, receivers: guardedRoute.receivers };
  return rulesOf(access, at, { about: flowsAbout(access, at, 'to'), other: 'from', sets, limit });
}
