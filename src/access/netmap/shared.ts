import { hasBit, haveCommonBits, intersectBits, noBits, subtractBits } from '../../lib/bits/bit-set.ts';
import { buildNeighbourhood, type DestinationWithSlot, servedDestinations } from '../evaluate/neighbours.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { type DirectionMap, directionMapOf, type OwnSide } from './direction.ts';
import { flowTableOf } from './flow-rules.ts';
import { createListing, emptyListing, joinListings, type Listing } from './listing.ts';
import { type DnsAudience, expiredIn, isFor, type NetmapBuilder, peersIn } from './netmap-builder.ts';
import { usersOf } from './object-readers.ts';
import { peerClassOf } from './peer-classes.ts';
import type { PeerSet } from './peer-set.ts';
import { servedRoutes, usedRoutes } from './routes.ts';
import { type Digest, digestOf, type Entry, noEntries, type Section, sortEntries, writeEntry } from './section.ts';

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
  readonly tunnelPeers: Readonly<Record<(typeof peerLists)[number], PeerSet>>;
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
interface PeerExtras {
  readonly leads: readonly DestinationWithSlot[];
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
  const known = builder.shared.get(key) ?? writeShared(builder, at, takesPart ? extrasOf(builder, at) : noExtras);
  builder.shared.set(key, known);
  builder.maps[at] = known;
  return known;
}

const noExtras: PeerExtras = { leads: [], dns: [] };

function extrasOf(builder: NetmapBuilder, at: number): PeerExtras {
  const { access } = builder;
  const dns = isFor(builder.unmanagedDns, at) ? [] : builder.dns.filter((audience) => isFor(audience, at));
  return { leads: servedDestinations(access, at), dns };
}

function writeShared(builder: NetmapBuilder, at: number, topics: PeerExtras): SharedMap {
  const content = topics === noExtras ? emptyContent(builder) : contentOf(builder, at, topics);
  const { tunnelPeers, lists } = content;
  const { settings } = builder;
  const dns = dnsOf(builder, at, topics);
  const digest = digestOf(
    [
      createListing([settings.entry]).digest,
      createListing([dns]).digest,
      ...peerLists.map((name) => tunnelPeers[name].digest),
      ...listNames.map((name) => lists[name].digest),
    ].join('\n'),
  );
  return { settings: settings.entry, dns, digest, ...content };
}

function dnsOf({ settings, unmanagedDns, dnsEntries }: NetmapBuilder, at: number, topics: PeerExtras): Entry {
  const managed = topics !== noExtras && !isFor(unmanagedDns, at);
  const search = [settings.domain, ...topics.dns.flatMap((audience) => audience.search)];
  const dns = managed ? { managed, domain: settings.domain, search: [...new Set(search)] } : { managed };
  const key = managed ? `managed ${search.join(' ')}` : '';
  const known = dnsEntries.get(key) ?? writeEntry('dns', dns);
  dnsEntries.set(key, known);
  return known;
}

type Content = Pick<SharedMap, 'tunnelPeers' | 'lists' | 'directions'>;

function contentOf(builder: NetmapBuilder, at: number, topics: PeerExtras): Content {
  const { access, previous } = builder;
  const directions = {
    from: directionMapOf(access, previous, at, 'from'),
    to: directionMapOf(access, previous, at, 'to'),
  };
  const more = new Map<string, Entry>();
  const leads = createListing(servedRoutes(access, at, topics.leads, { add: (set) => more.set(set.id, set) }));
  const entriesOf = (of: DnsAudience['listName']) =>
    createListing(sortEntries(topics.dns.filter((audience) => audience.listName === of).map(({ content }) => content)));
  const { around, routes } = tunnelsOf(builder, at, directions, leads);
  return {
    directions,
    tunnelPeers: around,
    lists: {
      outbound: directions.from.rules,
      inbound: directions.to.rules,
      routes,
      leads,
      sets: setsOf(previous?.maps[at], directions, createListing(sortEntries([...more.values()]))),
      users: createListing(usersWhoLogIn(access, at)),
      zones: entriesOf('zones'),
      nameservers: entriesOf('nameservers'),
      forwards: createListing(flowTableOf(access).forwards.get(at) ?? noEntries),
    },
  };
}

/**
 * Returns the peer sets that rules name, including the rules of `leads` (`more`). Returns the old list when none
 * changed.
 */
function setsOf(old: SharedMap | undefined, { from, to }: Directions, more: Listing): Listing {
  const isSame = old?.directions?.from.sets === from.sets && old.directions.to.sets === to.sets;
  if (isSame && more === emptyListing && old.lists.leads === emptyListing) return old.lists.sets;
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
    old.tunnelPeers.peers.peerEntries === peerEntries &&
    previous?.routedDestinations === access.routedDestinations &&
    previous.expired === expired;
  // A gateway's tunnels also depend on which peers reach its destinations, so they are always recomputed.
  if (isSame && leads === emptyListing && old.lists.leads === emptyListing)
    return { around: old.tunnelPeers, routes: old.lists.routes };
  const { neighbours, uses } = buildNeighbourhood(access, at, { from: from.reached, to: to.reached });
  const isAway = haveCommonBits(neighbours, expired);
  const around = {
    peers: peersIn(builder, isAway ? subtractBits(neighbours, expired) : neighbours),
    away: peersIn(builder, isAway ? intersectBits(neighbours, expired) : noBits),
  };
  return { around, routes: createListing(usedRoutes(access, uses)) };
}

/** Returns, by group, the users that rules allow to log in on a peer. */
function usersWhoLogIn(access: AccessImage, at: number): Section {
  const { logins } = flowTableOf(access);
  const groups = new Set(
    logins.filter(({ to }) => hasBit(to.sure, at)).flatMap(({ by }) => Object.keys(by?.rule.authorized ?? {})),
  );
  return sortEntries([...groups].map((id) => writeEntry(id, { id, users: usersOf(id, access.state) })));
}

const noLists = Object.fromEntries(listNames.map((name) => [name, emptyListing])) as SharedMap['lists'];

function emptyContent(builder: NetmapBuilder): Content {
  const noPeers = peersIn(builder, noBits);
  return { tunnelPeers: { peers: noPeers, away: noPeers }, lists: noLists, directions: undefined };
}
