import { hasBit } from '../../lib/bits/bit-set.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { DestinationWithSlot } from '../evaluate/neighbours.ts';
import { findFlowIndexes } from '../evaluate/reachability.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { flowAt, sideOf } from '../ruleset/flows.ts';
import { flowRuleAt, flowTableOf, limitedFlowRule, type OtherSide, type ReceiverLimit } from './flow-rules.ts';
import type { Entry, Section } from './section.ts';

/** Collects the peer sets that the rules of one map name. Filled while rules are written. */
export interface PeerSetCollector {
  add(set: Entry): void;
}

/** Returns the rules of the flows about an endpoint. Each rule names the set of peers on the other side. */
export function rulesOf(access: AccessImage, at: number, { flowIndexes, other, sets, limit }: RuleOptions): Section {
  const table = flowTableOf(access);
  const rules: Entry[] = [];
  for (const nth of flowIndexes) {
    const flow = flowAt(access.flows, nth);
    const { sure, possible } = sideOf(flow, other === 'to' ? 'from' : 'to');
    if (!hasBit(flow.drop ? possible : sure, at)) continue;
    const { rule, set } =
      limit === undefined ? flowRuleAt(access, table, nth, other) : limitedFlowRule(access, nth, limit);
    if (set.members?.length === 0) continue;
    sets.add(set);
    rules.push(rule);
  }
  return table.isSorted ? rules : rules.sort((a, b) => compareTexts(a.id, b.id));
}

interface RuleOptions {
  /** Positions of the flows in the image's list. */
  readonly flowIndexes: readonly number[];
  readonly other: OtherSide;
  readonly sets: PeerSetCollector;
  readonly limit?: ReceiverLimit | undefined;
}

/**
 * Returns the rules that gateways apply to traffic to a destination. Only its receivers use a route, whatever policies
 * permit.
 */
export function rulesTo(
  access: AccessImage,
  { slot: at, destination }: DestinationWithSlot,
  sets: PeerSetCollector,
): Section {
  const guardedRoute = access.guardedRoutes.find(({ slot }) => slot === at);
  const limit =
    guardedRoute === undefined ? undefined : { id: destination.object.id, receivers: guardedRoute.receivers };
  return rulesOf(access, at, { flowIndexes: findFlowIndexes(access, at, 'to'), other: 'from', sets, limit });
}
