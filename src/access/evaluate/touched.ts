import {
  type BitSet,
  bitsOf,
  differingBits,
  hasBit,
  intersectBits,
  noBits,
  numbersIn,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { agreeOnSlots, idsAt } from '../ruleset/endpoints.ts';
import { type EndpointSets, equalEndpointSets, type Flow } from '../ruleset/flows.ts';
import { haveEqualWays } from '../ruleset/routed-destinations.ts';
import { neighbourhoodOf } from './neighbours.ts';

/** A value before and after. An absent side means that it was added or removed. */
interface ValueChange<T> {
  readonly before?: T | undefined;
  readonly after?: T | undefined;
}

/**
 * Returns the ids, in order, of peers whose `reachOf` may differ between an image and the image that was updated from
 * it. None is missing.
 */
export function touchedPeers(before: AccessImage, after: AccessImage): readonly string[] {
  const { peer } = after.endpoints.byType;
  if (!agreeOnSlots(before.endpoints, after.endpoints)) return idsAt(after.endpoints, peer);
  const touched = uniteBits(
    differingBits(before.live, after.live),
    differingBits(before.endpoints.byType.peer, peer),
    ...findReplacedFlows(before, after).flatMap((pair) => endpointsAffectedByFlow(before, after, pair)),
    ...changedDestinations(before, after).flatMap((id) => endpointsAffectedByDestination(before, after, id)),
    ...idsInOneOnly(before.observedPeers.expired, after.observedPeers.expired).flatMap((id) =>
      [before, after].flatMap((image) => peerWithNeighbours(image, id)),
    ),
  );
  return idsAt(after.endpoints, intersectBits(touched, peer));
}

/** Returns the flows whose value is not identical any more. */
function findReplacedFlows(before: AccessImage, after: AccessImage): readonly ValueChange<Flow>[] {
  if (before.flows === after.flows) return [];
  const known = new Map(before.flows.map((flow) => [flow.id, flow]));
  const pairs: ValueChange<Flow>[] = [];
  for (const flow of after.flows) {
    const old = known.get(flow.id);
    known.delete(flow.id);
    if (old !== flow) pairs.push({ before: old, after: flow });
  }
  return [...pairs, ...[...known.values()].map((flow) => ({ before: flow }))];
}

/**
 * Returns the endpoints affected by a changed flow. When only one side of a rule changes, endpoints that stay on that
 * side are not affected.
 */
function endpointsAffectedByFlow(
  was: AccessImage,
  is: AccessImage,
  { before, after }: ValueChange<Flow>,
): readonly BitSet[] {
  const sides = [before, after].flatMap((flow) => flow ?? []);
  const gateways = [was, is].flatMap((image) => sides.flatMap(({ to }) => gatewaysOf(image, to.possible)));
  if (
    before === undefined ||
    after === undefined ||
    before.by?.rule !== after.by?.rule ||
    before.by?.policy !== after.by?.policy
  )
    return [...gateways, ...sides.flatMap(({ from, to }) => [from.possible, to.possible])];
  // When temporary peers that are not live are added or removed, the same set of endpoints gets another name.
  const isSame = (own: 'from' | 'to') =>
    equalEndpointSets(before[own], after[own]) &&
    before.temporarySides.includes(own) === after.temporarySides.includes(own);
  const moved = (own: 'from' | 'to', other: 'from' | 'to') =>
    isSame(own) ? [] : [...differences(before[own], after[own]), before[other].possible, after[other].possible];
  return [...gateways, ...moved('from', 'to'), ...moved('to', 'from')];
}

function differences(a: EndpointSets, b: EndpointSets): readonly BitSet[] {
  return [differingBits(a.sure, b.sure), differingBits(a.possible, b.possible)];
}

/** Returns the gateways of these endpoints. */
function gatewaysOf({ endpoints, routedDestinations }: AccessImage, among: BitSet): readonly BitSet[] {
  return numbersIn(intersectBits(among, uniteBits(endpoints.byType.resource, endpoints.byType.route))).flatMap(
    (at) => routedDestinations.get(endpoints.ids[at] ?? '')?.gateways ?? [],
  );
}

/** Returns the ids of resources and routes that are reached in another way than before. */
function changedDestinations(before: AccessImage, after: AccessImage): readonly string[] {
  if (before.routedDestinations === after.routedDestinations) return [];
  const ids = new Set([...before.routedDestinations.keys(), ...after.routedDestinations.keys()]);
  return [...ids].filter((id) => before.routedDestinations.get(id) !== after.routedDestinations.get(id));
}

/** Returns the gateways and clients of a destination, if it changed for them. */
function endpointsAffectedByDestination(before: AccessImage, after: AccessImage, id: string): readonly BitSet[] {
  const [old, destination] = [before.routedDestinations.get(id), after.routedDestinations.get(id)];
  const gateways = [old?.gateways ?? noBits, destination?.gateways ?? noBits];
  if (old !== undefined && destination !== undefined && haveEqualWays(old, destination))
    return [...gateways, differingBits(old.receivers ?? noBits, destination.receivers ?? noBits)];
  return [...gateways, ...sourcesOfFlowsTo(before, id), ...sourcesOfFlowsTo(after, id)];
}

function sourcesOfFlowsTo({ endpoints, flows }: AccessImage, id: string): readonly BitSet[] {
  const at = endpoints.slots.get(id);
  return at === undefined ? [] : flows.filter(({ to }) => hasBit(to.possible, at)).map(({ from }) => from.possible);
}

/** Returns a peer and all its neighbours. */
function peerWithNeighbours(access: AccessImage, id: string): readonly BitSet[] {
  const at = access.endpoints.slots.get(id);
  if (at === undefined || !hasBit(access.endpoints.byType.peer, at)) return [];
  return [bitsOf([at]), neighbourhoodOf(access, at).neighbours];
}

function idsInOneOnly(a: ReadonlySet<string>, b: ReadonlySet<string>): readonly string[] {
  return [...[...a].filter((id) => !b.has(id)), ...[...b].filter((id) => !a.has(id))];
}
