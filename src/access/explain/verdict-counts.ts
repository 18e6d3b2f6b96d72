import {
  type BitSet,
  bitsOf,
  countBits,
  hasBit,
  intersectBits,
  noBits,
  numbersIn,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import { intersectIntervals } from '../../lib/bits/intervals.ts';
import { partition } from '../../lib/bits/partition.ts';
import { verdicts } from '../../model/declare/access-words.ts';
import { groupEquivalentPeers } from '../evaluate/classes.ts';
import { flowsFromPeer, type PeerFlow, type PeerFlows, weigh } from '../evaluate/layers.ts';
import { compareTexts, endpointsNamed } from '../evaluate/named.ts';
import type { Traffic } from '../evaluate/traffic.ts';
import { partitionTraffic } from '../evaluate/traffic-partition.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { kindOf, type Policy, type RuleSide, readPolicy } from '../ruleset/object-readers.ts';
import { type AccessEndpoint, accessEndpointOf } from './access-endpoint.ts';
import { explainPair, type Verdict } from './explain.ts';

/** The two endpoints of a question. */
export interface EndpointPair {
  readonly from: AccessEndpoint;
  readonly to: AccessEndpoint;
}

/** Number of pairs for each verdict, and the first pair of each verdict in the order of ids. */
export interface VerdictCounts {
  readonly pairs: Readonly<Record<Verdict, number>>;
  first(verdict: Verdict): EndpointPair | undefined;
}

/** Returns the total number of pairs. */
export function countPairs({ pairs }: VerdictCounts): number {
  return pairs.allow + pairs.conditional + pairs.deny + pairs.mixed;
}

/** Answers the question for every pair of two sets of live endpoints. No peer is paired with itself. */
export function countMemberPairs(access: AccessImage, asked: Traffic, from: BitSet, to: BitSet): VerdictCounts {
  const pairs = { allow: 0, conditional: 0, deny: 0, mixed: 0 };
  const classes = groupEquivalentPeers([access], from);
  for (const members of classes) {
    const [one] = members;
    if (one === undefined) continue;
    const found = splitByVerdict(flowsFromPeer(access, one), asked, to);
    for (const verdict of verdicts) {
      const others = found[verdict];
      pairs[verdict] += members.length * countBits(others) - members.filter((member) => hasBit(others, member)).length;
    }
  }
  return { pairs, first: (verdict) => firstPair(access, asked, classes, to, verdict) };
}

/**
 * Answers the question for a hypothetical or non-live endpoint and each endpoint of a set. `opens` is the side that
 * opens connections.
 */
export function countPairsWith(
  access: AccessImage,
  asked: Traffic,
  endpoint: AccessEndpoint,
  members: BitSet,
  opens: 'endpoint' | 'members',
): VerdictCounts {
  const pairs = { allow: 0, conditional: 0, deny: 0, mixed: 0 };
  const firsts = new Map<Verdict, { readonly id: string; readonly pair: EndpointPair }>();
  const own = endpoint.imagined ? undefined : access.endpoints.slots.get(endpoint.id);
  const others = own === undefined ? members : subtractBits(members, bitsOf([own]));
  for (const alike of groupEquivalentEndpoints(access, endpoint, others)) {
    const [id = ''] = alike.map((at) => access.endpoints.ids[at] ?? '').sort(compareTexts);
    const other = accessEndpointOf(access, id);
    const pair = opens === 'endpoint' ? { from: endpoint, to: other } : { from: other, to: endpoint };
    const { verdict } = explainPair(access, pair.from, pair.to, asked);
    pairs[verdict] += alike.length;
    const known = firsts.get(verdict);
    if (known === undefined || id < known.id) firsts.set(verdict, { id, pair });
  }
  return { pairs, first: (verdict) => firsts.get(verdict)?.pair };
}

/** Answers the question for one pair. */
export function countPair(
  access: AccessImage,
  asked: Traffic,
  from: AccessEndpoint,
  to: AccessEndpoint,
): VerdictCounts {
  const { verdict } = explainPair(access, from, to, asked);
  const pairs = { allow: 0, conditional: 0, deny: 0, mixed: 0, [verdict]: 1 };
  return { pairs, first: (which) => (which === verdict ? { from, to } : undefined) };
}

/** Splits a set of endpoints by verdict. */
function splitByVerdict(line: PeerFlows, asked: Traffic, to: BitSet): Readonly<Record<Verdict, BitSet>> {
  const [accepts, drops] = [restrictFlows(line.accepts, asked), restrictFlows(line.drops, asked)];
  const { pieces, piecesByTraffic } = partitionTraffic([
    asked,
    ...[...accepts, ...drops].map(({ traffic }) => traffic),
  ]);
  const covers = (offset: number, piece: number) => (_: PeerFlow, at: number) =>
    piecesByTraffic[offset + at]?.includes(piece) === true;
  let [allow, possible, some] = [to, to, noBits];
  for (const piece of pieces.keys()) {
    const weighed = weigh({
      accepts: accepts.filter(covers(1, piece)),
      drops: drops.filter(covers(1 + accepts.length, piece)),
      closed: line.closed,
    });
    allow = intersectBits(allow, weighed.sure);
    possible = intersectBits(possible, weighed.possible);
    some = uniteBits(some, weighed.possible);
  }
  const passing = intersectBits(to, some);
  return {
    allow,
    conditional: subtractBits(possible, allow),
    deny: subtractBits(to, some),
    mixed: subtractBits(passing, possible),
  };
}

/** Restricts layers to the given traffic, and drops empty layers. */
function restrictFlows(layers: readonly PeerFlow[], asked: Traffic): readonly PeerFlow[] {
  return layers
    .map((layer) => ({ ...layer, traffic: intersectIntervals(asked, layer.traffic) }))
    .filter(({ traffic }) => traffic.length > 0);
}

function firstPair(
  access: AccessImage,
  asked: Traffic,
  classes: readonly (readonly number[])[],
  to: BitSet,
  verdict: Verdict,
): EndpointPair | undefined {
  const idAt = (at: number) => access.endpoints.ids[at] ?? '';
  let best: { readonly from: number; readonly to: BitSet } | undefined;
  for (const members of classes) {
    const [one] = members;
    if (one === undefined) continue;
    const others = splitByVerdict(flowsFromPeer(access, one), asked, to)[verdict];
    for (const member of members) {
      if (best !== undefined && idAt(best.from) < idAt(member)) continue;
      const rest = subtractBits(others, bitsOf([member]));
      if (countBits(rest) > 0) best = { from: member, to: rest };
    }
  }
  if (best === undefined) return undefined;
  const target = numbersIn(best.to).map(idAt).sort(compareTexts)[0] ?? '';
  return { from: accessEndpointOf(access, idAt(best.from)), to: accessEndpointOf(access, target) };
}

/**
 * Groups endpoints into classes. No rule that names the endpoint of the question treats the members of a class
 * differently.
 */
function groupEquivalentEndpoints(
  access: AccessImage,
  endpoint: AccessEndpoint,
  among: BitSet,
): readonly (readonly number[])[] {
  const sets: BitSet[] = [access.endpoints.byType.peer, ...access.guardedRoutes.map(({ receivers }) => receivers)];
  for (const policy of access.state.ofKind(kindOf.policy).map(readPolicy)) {
    if (
      !policy.rules.some((rule) => namesEndpoint(rule.sources, endpoint) || namesEndpoint(rule.destinations, endpoint))
    )
      continue;
    sets.push(...distinctions(access, policy));
  }
  return partition(among, sets);
}

function namesEndpoint({ groups, one }: RuleSide, endpoint: AccessEndpoint): boolean {
  return one === endpoint.id || endpoint.groupsAmong(groups).length > 0 || endpoint.guardsAmong(groups).length > 0;
}

/** Returns the sets by which a policy distinguishes endpoints. */
function distinctions(access: AccessImage, { rules, postures }: Policy): readonly BitSet[] {
  const named = rules
    .flatMap(({ sources, destinations }) => [sources, destinations])
    .flatMap(({ groups, one }) => [...groups, ...(one === undefined ? [] : [one])]);
  const passing = postures.flatMap((id) => access.postures.get(id) ?? []);
  return [
    ...[...new Set(named)].map((id) => endpointsNamed(access, id)),
    ...passing.flatMap(({ sure, possible }) => [sure, possible]),
  ];
}
