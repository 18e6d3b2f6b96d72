import { hasBit } from '../../lib/bits/bit-set.ts';
import type { JsonObject } from '../../lib/json.ts';
import { parseCidr } from '../../lib/net/address.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { DestinationAt } from '../evaluate/neighbours.ts';
import type { Access } from '../ruleset/access.ts';
import { idsAt } from '../ruleset/endpoints.ts';
import { partOf, readResource, readRoute } from '../ruleset/object-readers.ts';
import type { RoutedDestination, Way } from '../ruleset/routed-destinations.ts';
import { rulesTo, type Sets } from './rules.ts';
import { type Entry, type Section, writeEntry } from './section.ts';

const used = new WeakMap<RoutedDestination, Entry>();

/** Returns the destinations that a peer reaches through others. Each lists its ways by metric, with their gateways. */
export function routesTo(access: Access, destinations: readonly DestinationAt[]): Section {
  return destinations
    .map(({ destination }) => used.get(destination) ?? writeUsed(access, destination))
    .sort(compareIds);
}

/**
 * Returns the destinations for which a peer is a gateway. Each lists the peer's own ways, and the rules for traffic to
 * it.
 */
export function routesBy(access: Access, gateway: number, destinations: readonly DestinationAt[], sets: Sets): Section {
  return destinations
    .map((led) => {
      const rules = rulesTo(access, led, sets).map(({ text }): unknown => JSON.parse(text));
      const own = led.destination.ways.filter(({ peers }) => hasBit(peers, gateway));
      const ways = inOrder(own).map(({ id, metric, masquerade }) => ({ id, metric, masquerade }));
      return writeEntry(led.destination.object.id, { ...placeText(led.destination), ways, rules });
    })
    .sort(compareIds);
}

function writeUsed(access: Access, destination: RoutedDestination): Entry {
  const ways = inOrder(destination.ways).map(({ id, metric, masquerade, peers }) => {
    return { id, metric, masquerade, peers: idsAt(access.endpoints, peers) };
  });
  const entry = writeEntry(destination.object.id, { ...placeText(destination), ways });
  used.set(destination, entry);
  return entry;
}

function placeText({ object }: RoutedDestination): JsonObject {
  const { id, name } = object;
  if (partOf(object) === 'resource') {
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

function inOrder(ways: readonly Way[]): readonly Way[] {
  return [...ways].sort((a, b) => a.metric - b.metric || compareTexts(a.id, b.id));
}

function compareIds(a: Entry, b: Entry): number {
  return compareTexts(a.id, b.id);
}
