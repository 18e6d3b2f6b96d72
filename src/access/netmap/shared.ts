import { hasBit, intersectBits, noBits, shareBits, subtractBits } from '../../lib/bits/bit-set.ts';
import { type DestinationAt, neighbourhoodBetween, servedDestinations } from '../evaluate/neighbours.ts';
import type { Access } from '../ruleset/access.ts';
import { type DirectionMap, directionOf, type OwnSide } from './direction.ts';
import { flowTableOf } from './flow-rules.ts';
import { joinListings, type Listing, listed, nothingListed } from './listing.ts';
import { type DnsAudience, expiredIn, isFor, type NetmapBuilder, peersIn } from './netmap-builder.ts';
import { usersOf } from './object-readers.ts';
import { peerClassOf } from './peer-classes.ts';
import type { PeerSet } from './peer-set.ts';
import { routesBy, routesTo } from './routes.ts';
import { type Digest, digestOf, type Entry, inOrder, noEntries, type Section, writeEntry } from './section.ts';

/**
 * Names of the peer lists in a map (`peerLists`) and of its other lists (`listNames`), in the order in which they are
 * written.
 */
export const peerLists = ['peers', 'away'] as const;
export const listNames = [
  ...(['sets', 'outbound', 'inbound', 'routes', 'leads'] as const),
  ...(['users', 'zones', 'nameservers', 'forwards'] as const),
] as const;

type ListName = (typeof listNames)[number];

/**
 * Part of network maps that is shared by peers of one class. Its lists of peers may contain the reading peer itself.
 */
export interface SharedMap {
  readonly settings: Entry;
  readonly dns: Entry;
  readonly around: Readonly<Record<(typeof peerLists)[number], PeerSet>>;
  readonly lists: Readonly<Record<ListName, Listing>>;
  readonly digest: Digest;
  /**
   * Rules by direction from which the map was built, so that a later image can update them. Absent for peers that are
   * not active: they wait for approval, or their login has expired.
   */
  readonly directions: Directions | undefined;
}

type Directions = Readonly<Record<OwnSide, DirectionMap>>;

/** Content of a peer's map in addition to rules: the destinations that it is a gateway for, and DNS. */
interface PeerTopics {
  readonly leads: readonly DestinationAt[];
  readonly dns: readonly DnsAudience[];
}

/**
 * Returns the part of a peer's map that it shares with all peers of its class. `takesPart` is false for peers that are
 * not active. They get an empty map.
 */
export function sharedMapOf(builder: NetmapBuilder, at: number, takesPart: boolean): SharedMap {
  const present = builder.maps[at];
  if (present !== undefined) return present;
  const key = takesPart ? peerClassOf(builder, at) : '';
  const known = builder.shared.get(key) ?? writeShared(builder, at, takesPart ? topicsOf(builder, at) : nothing);
  builder.shared.set(key, known);
  builder.maps[at] = known;
  return known;
}

const nothing: PeerTopics = { leads: [], dns: [] };

function topicsOf(builder: NetmapBuilder, at: number): PeerTopics {
  const { access } = builder;
  const dns = isFor(builder.unmanaged, at) ? [] : builder.dns.filter((audience) => isFor(audience, at));
  return { leads: servedDestinations(access, at), dns };
}

function writeShared(builder: NetmapBuilder, at: number, topics: PeerTopics): SharedMap {
  const content = topics === nothing ? emptyContent(builder) : contentOf(builder, at, topics);
  const { around, lists } = content;
  const { settings } = builder;
  const dns = dnsOf(builder, at, topics);
  const digest = digestOf(
    [
      listed([settings.entry]).digest,
      listed([dns]).digest,
      ...peerLists.map((name) => around[name].digest),
      ...listNames.map((name) => lists[name].digest),
    ].join('\n'),
  );
  return { settings: settings.entry, dns, digest, ...content };
}

function dnsOf({ settings, unmanaged, entries }: NetmapBuilder, at: number, topics: PeerTopics): Entry {
  const managed = topics !== nothing && !isFor(unmanaged, at);
  const search = [settings.domain, ...topics.dns.flatMap((audience) => audience.search)];
  const dns = managed ? { managed, domain: settings.domain, search: [...new Set(search)] } : { managed };
  const key = managed ? `managed ${search.join(' ')}` : '';
  const known = entries.get(key) ?? writeEntry('dns', dns);
  entries.set(key, known);
  return known;
}

type Content = Pick<SharedMap, 'around' | 'lists' | 'directions'>;

function contentOf(builder: NetmapBuilder, at: number, topics: PeerTopics): Content {
  const { access, previous } = builder;
  const directions = { from: directionOf(access, previous, at, 'from'), to: directionOf(access, previous, at, 'to') };
  const more = new Map<string, Entry>();
  const leads = listed(routesBy(access, at, topics.leads, { add: (set) => more.set(set.id, set) }));
  const entriesOf = (of: DnsAudience['of']) =>
    listed(inOrder(topics.dns.filter((audience) => audience.of === of).map(({ what }) => what)));
  const { around, routes } = tunnelsOf(builder, at, directions, leads);
  return {
    directions,
    around,
    lists: {
      outbound: directions.from.rules,
      inbound: directions.to.rules,
      routes,
      leads,
      sets: setsOf(previous?.maps[at], directions, listed(inOrder([...more.values()]))),
      users: listed(usersWhoLogIn(access, at)),
      zones: entriesOf('zones'),
      nameservers: entriesOf('nameservers'),
      forwards: listed(flowTableOf(access).forwards.get(at) ?? noEntries),
    },
  };
}

/**
 * Returns the peer sets that rules name, including the rules of `leads` (`more`). Returns the old list when none
 * changed.
 */
function setsOf(old: SharedMap | undefined, { from, to }: Directions, more: Listing): Listing {
  const isSame = old?.directions?.from.sets === from.sets && old.directions.to.sets === to.sets;
  if (isSame && more === nothingListed && old.lists.leads === nothingListed) return old.lists.sets;
  return joinListings(joinListings(from.sets, to.sets), more);
}

/**
 * Returns the peers that share a tunnel with this one, and its routes through them. Returns the old values when nothing
 * that they depend on changed.
 */
function tunnelsOf(builder: NetmapBuilder, at: number, { from, to }: Directions, leads: Listing) {
  const { access, peerEntries, previous } = builder;
  const expired = expiredIn(builder);
  const old = previous?.maps[at];
  const isSame =
    old?.directions?.from.reached === from.reached &&
    old.directions.to.reached === to.reached &&
    old.around.peers.peerEntries === peerEntries &&
    previous?.routedDestinations === access.routedDestinations &&
    previous.expired === expired;
  // A gateway's tunnels also depend on which peers reach its destinations, so they are always recomputed.
  if (isSame && leads === nothingListed && old.lists.leads === nothingListed)
    return { around: old.around, routes: old.lists.routes };
  const { neighbours, uses } = neighbourhoodBetween(access, at, { from: from.reached, to: to.reached });
  const isAway = shareBits(neighbours, expired);
  const around = {
    peers: peersIn(builder, isAway ? subtractBits(neighbours, expired) : neighbours),
    away: peersIn(builder, isAway ? intersectBits(neighbours, expired) : noBits),
  };
  return { around, routes: listed(routesTo(access, uses)) };
}

/** Returns, by group, the users that rules allow to log in on a peer. */
function usersWhoLogIn(access: Access, at: number): Section {
  const { logins } = flowTableOf(access);
  const groups = new Set(
    logins.filter(({ to }) => hasBit(to.sure, at)).flatMap(({ by }) => Object.keys(by?.rule.authorized ?? {})),
  );
  return inOrder([...groups].map((id) => writeEntry(id, { id, users: usersOf(id, access.state) })));
}

const noLists = Object.fromEntries(listNames.map((name) => [name, nothingListed])) as SharedMap['lists'];

function emptyContent(builder: NetmapBuilder): Content {
  const noPeers = peersIn(builder, noBits);
  return { around: { peers: noPeers, away: noPeers }, lists: noLists, directions: undefined };
}
