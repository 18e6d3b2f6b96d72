import {
  addBits,
  addCommonBits,
  type BitSet,
  countBits,
  hasBit,
  intersectBits,
  noBits,
  numbersIn,
  shareBits,
  subtractBits,
  uniteBits,
} from '../../lib/bits/bit-set.ts';
import type { Access } from '../ruleset/access.ts';
import { idsAt } from '../ruleset/ends.ts';
import type { Extent } from '../ruleset/flows.ts';
import type { Place } from '../ruleset/places.ts';
import { reachedFrom, surelyReachedFrom, surelyReachedTo } from './reached.ts';

/** Ids of peers that a peer may open connections to, in order: for sure, and depending on posture checks. */
export interface AccessiblePeers {
  readonly sure: readonly string[];
  readonly conditional: readonly string[];
}

/** The peers to which a peer may open a connection. */
export function accessiblePeers(access: Access, peer: string): AccessiblePeers {
  const { sure, possible } = peersReachedFrom(access, peer);
  return { sure: idsAt(access.ends, sure), conditional: idsAt(access.ends, subtractBits(possible, sure)) };
}

/** To how many peers a peer may surely open a connection. */
export function countAccessiblePeers(access: Access, peer: string): number {
  return countBits(peersReachedFrom(access, peer).sure);
}

/** The certain neighbourhood of a peer: drops are weighed, and what is open counts as closed. */
export interface Neighbourhood {
  /** Peers and proxies between which and this one there is a tunnel: one reaches the other, or leads the other somewhere. */
  readonly neighbours: BitSet;
  /** Places that it reaches by way of others. */
  readonly uses: readonly PlaceAt[];
  /** Places to which it leads others. */
  readonly serves: readonly PlaceAt[];
}

/** A resource or a route, and where it stands in sets. */
export interface PlaceAt {
  readonly at: number;
  readonly place: Place;
}

/** What a peer surely reaches, and by whom it is surely reached. */
export interface Reached {
  readonly from: BitSet;
  readonly to: BitSet;
}

/** The neighbourhood of a peer. */
export function neighbourhoodOf(access: Access, at: number): Neighbourhood {
  return neighbourhoodBetween(access, at, { from: surelyReachedFrom(access, at), to: surelyReachedTo(access, at) });
}

/** The neighbourhood of a peer that reaches `from` and is reached by `to`. */
export function neighbourhoodBetween(access: Access, at: number, { from, to }: Reached): Neighbourhood {
  const { peer, proxy, resource, route } = access.ends.of;
  const uses = placesAmong(access, from, [resource, route]).filter(({ place }) => !hasBit(place.gateways, at));
  const serves = leadingPlaces(access, at);
  const neighbours: BitSet = new Int32Array(Math.max(from.length, peer.length, proxy.length));
  addCommonBits(neighbours, from, peer);
  addCommonBits(neighbours, from, proxy);
  addBits(neighbours, to);
  for (const { place } of uses) addBits(neighbours, place.gateways);
  for (const served of serves) addBits(neighbours, clientsOf(access, served));
  return { neighbours, uses, serves };
}

function placesAmong({ ends, places }: Access, among: BitSet, parts: readonly BitSet[]): readonly PlaceAt[] {
  return parts.flatMap((part) => {
    if (!shareBits(part, among)) return [];
    return numbersIn(intersectBits(part, among)).flatMap((at): PlaceAt[] => {
      const place = places.get(ends.ids[at] ?? '');
      return place === undefined ? [] : [{ at, place }];
    });
  });
}

/** Peers that are led to a place, not those that lead there. */
function clientsOf(access: Access, { at, place }: PlaceAt): BitSet {
  return subtractBits(surelyReachedTo(access, at), place.gateways);
}

function peersReachedFrom(access: Access, id: string): Extent {
  const at = access.ends.slots.get(id);
  const { peer } = access.ends.of;
  if (at === undefined || !hasBit(peer, at)) return { sure: noBits, possible: noBits };
  const { sure, possible } = reachedFrom(access, at);
  return { sure: intersectBits(sure, peer), possible: intersectBits(possible, peer) };
}

/** Places that take part, with all peers that lead to any of them; known as long as they stay. */
const leaders = new WeakMap<Access, { readonly all: BitSet; readonly places: readonly PlaceAt[] }>();

/** The places that take part and to which a peer leads. */
export function leadingPlaces(access: Access, at: number): readonly PlaceAt[] {
  const known = leaders.get(access) ?? gatherLeaders(access);
  leaders.set(access, known);
  return hasBit(known.all, at) ? known.places.filter(({ place }) => hasBit(place.gateways, at)) : [];
}

function gatherLeaders(access: Access) {
  const places = [...access.places].flatMap(([id, place]): PlaceAt[] => {
    const at = access.ends.slots.get(id);
    return at === undefined || !hasBit(access.live, at) ? [] : [{ at, place }];
  });
  return { all: uniteBits(...places.map(({ place }) => place.gateways)), places };
}
