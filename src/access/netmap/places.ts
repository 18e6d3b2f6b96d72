import { hasBit } from '../../lib/bits/bit-set.ts';
import type { JsonObject } from '../../lib/json.ts';
import { parseCidr } from '../../lib/net/address.ts';
import { compareTexts } from '../evaluate/named.ts';
import type { PlaceAt } from '../evaluate/neighbours.ts';
import type { Access } from '../ruleset/access.ts';
import { idsAt } from '../ruleset/ends.ts';
import type { Place, Way } from '../ruleset/places.ts';
import { partOf, readResource, readRoute } from '../ruleset/vocabulary.ts';
import { rulesTo, type Sets } from './rules.ts';
import { type Entry, type Section, writeEntry } from './section.ts';

const used = new WeakMap<Place, Entry>();

/** Where others lead a peer: each place with the ways there in the order of their metric, and the peers that lead. */
export function routesTo(access: Access, places: readonly PlaceAt[]): Section {
  return places.map(({ place }) => used.get(place) ?? writeUsed(access, place)).sort(compareIds);
}

/** Where a peer leads others, with what it lets through. */
export function routesBy(access: Access, gateway: number, places: readonly PlaceAt[], sets: Sets): Section {
  return places
    .map((led) => {
      const rules = rulesTo(access, led, sets).map(({ text }): unknown => JSON.parse(text));
      const own = led.place.ways.filter(({ peers }) => hasBit(peers, gateway));
      const ways = inOrder(own).map(({ id, metric, masquerade }) => ({ id, metric, masquerade }));
      return writeEntry(led.place.object.id, { ...placeText(led.place), ways, rules });
    })
    .sort(compareIds);
}

function writeUsed(access: Access, place: Place): Entry {
  const ways = inOrder(place.ways).map(({ id, metric, masquerade, peers }) => {
    return { id, metric, masquerade, peers: idsAt(access.ends, peers) };
  });
  const entry = writeEntry(place.object.id, { ...placeText(place), ways });
  used.set(place, entry);
  return entry;
}

function placeText({ object }: Place): JsonObject {
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
