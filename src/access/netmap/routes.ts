import { hasBit } from '../../lib/bits/bit-set.ts';
import type { JsonObject } from '../../lib/json.ts';
import { parseCidr } from '../../lib/net/address.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { DestinationWithSlot } from '../evaluate/neighbours.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { idsAt } from '../ruleset/endpoints.ts';
import { accessTypeOf, readResource, readRoute } from '../ruleset/object-readers.ts';
import type { RoutedDestination, Way } from '../ruleset/routed-destinations.ts';
import { type PeerSetCollector, rulesTo } from './rules.ts';
import { type Entry, type Section, writeEntry } from './section.ts';

const usedRouteEntries = new WeakMap<RoutedDestination, Entry>();

/** Returns the destinations that a peer reaches through others. Each lists its ways by metric, with their gateways. */
export function usedRoutes(access: AccessImage, destinations: readonly DestinationWithSlot[]): Section {
  return destinations
    .map(({ destination }) => usedRouteEntries.get(destination) ?? writeUsedRoute(access, destination))
    .sort(compareIds);
}

/**
 * Returns the destinations for which a peer is a gateway. Each lists the peer's own ways, and the rules for traffic to
 * it.
 */
export function servedRoutes(
  access: AccessImage,
  gateway: number,
  destinations: readonly DestinationWithSlot[],
  sets: PeerSetCollector,
): Section {
  return destinations
    .map((led) => {
      const rules = rulesTo(access, led, sets).map(({ text }): unknown => JSON.parse(text));
      const own = led.destination.ways.filter(({ peers }) => hasBit(peers, gateway));
      const ways = sortByMetric(own).map(({ id, metric, masquerade }) => ({ id, metric, masquerade }));
      return writeEntry(led.destination.object.id, { ...describeDestination(led.destination), ways, rules });
    })
    .sort(compareIds);
}

function writeUsedRoute(access: AccessImage, destination: RoutedDestination): Entry {
  const ways = sortByMetric(destination.ways).map(({ id, metric, masquerade, peers }) => {
    return { id, metric, masquerade, peers: idsAt(access.endpoints, peers) };
  });
  const entry = writeEntry(destination.object.id, { ...describeDestination(destination), ways });
  usedRouteEntries.set(destination, entry);
  return entry;
}

function describeDestination({ object }: RoutedDestination): JsonObject {
  const { id, name } = object;
  if (accessTypeOf(object) === 'resource') {
    const { address } = readResource(object);
    return { id, type: 'resource', name, ...(parseCidr(address).ok ? { network: address } : { domains: [address] }) };
  }
  const { networkId, network, domains, keepRoute, skipAutoApply } = readRoute(object);
  return {
    ...{ id, type: 'route', name: networkId },
    ...(network === '' ? { domains } : { network }),
    keep_route: keepRoute,
    skip_auto_apply: skipAutoApply,
  };
}

function sortByMetric(ways: readonly Way[]): readonly Way[] {
  return [...ways].sort((a, b) => a.metric - b.metric || compareTexts(a.id, b.id));
}

function compareIds(a: Entry, b: Entry): number {
  return compareTexts(a.id, b.id);
}
