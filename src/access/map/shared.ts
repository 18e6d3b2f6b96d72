import { type BitSet, hasBit, intersectBits, noBits, subtractBits } from '../../lib/bit-set.ts';
import type { Access } from '../access.ts';
import { compareTexts } from '../named.ts';
import { leadingPlaces, type PlaceAt, surround } from '../neighbours.ts';
import { flowsAbout, surelyReachedFrom, surelyReachedTo } from '../reached.ts';
import { carriedHalf } from './carried.ts';
import { likenessOf } from './likeness.ts';
import type { PeerSet } from './peer-set.ts';
import { type DnsAudience, expiredIn, isFor, type Picture, peersIn } from './picture.ts';
import { routesBy, routesTo } from './places.ts';
import { rulesOf } from './rules.ts';
import {
  type Digest,
  digestOf,
  type Entry,
  joinSections,
  noEntries,
  type Section,
  sectionDigest,
  writeEntry,
} from './section.ts';
import { flowTableOf } from './told.ts';
import { usersOf } from './vocabulary.ts';

/** The lists of peers in a map, and its other lists, in the order in which they are written. */
export const peerLists = ['peers', 'away'] as const;
export const listNames = [
  ...(['sets', 'outbound', 'inbound', 'routes', 'leads'] as const),
  ...(['users', 'zones', 'nameservers'] as const),
] as const;

type ListName = (typeof listNames)[number];

/** What peers of which the same is said are told in common. Lists of peers may name the peer that reads them. */
export interface SharedMap {
  readonly settings: Entry;
  readonly dns: Entry;
  readonly around: Readonly<Record<(typeof peerLists)[number], PeerSet>>;
  readonly lists: Readonly<Record<ListName, Section>>;
  readonly digest: Digest;
  /** From what it was made, so that a later image may go on from there; absent for those who take no part. */
  readonly halves: Readonly<Record<'from' | 'to', Half>> | undefined;
}

/** What is said about a peer in one direction: as one that opens connections, or as one that is reached. */
export interface Half {
  /** Whom it surely reaches, or who surely reaches it. */
  readonly reached: BitSet;
  readonly rules: Section;
  /** The sets that the rules name. */
  readonly sets: Section;
}

/** What is said about a peer besides rules. */
interface Said {
  readonly leads: readonly PlaceAt[];
  readonly dns: readonly DnsAudience[];
}

/** What a peer is told in common with all that are alike. */
export function sharedMapOf(picture: Picture, at: number, takesPart: boolean): SharedMap {
  const present = picture.maps[at];
  if (present !== undefined) return present;
  const key = takesPart ? likenessOf(picture, at) : '';
  const known = picture.shared.get(key) ?? writeShared(picture, at, takesPart ? whatIsSaid(picture, at) : nothing);
  picture.shared.set(key, known);
  picture.maps[at] = known;
  return known;
}

const nothing: Said = { leads: [], dns: [] };

function whatIsSaid(picture: Picture, at: number): Said {
  const { access } = picture;
  const dns = isFor(picture.unmanaged, at) ? [] : picture.dns.filter((audience) => isFor(audience, at));
  return { leads: leadingPlaces(access, at), dns };
}

function writeShared(picture: Picture, at: number, said: Said): SharedMap {
  const content = said === nothing ? emptyContent(picture) : contentOf(picture, at, said);
  const { around, lists } = content;
  const { settings } = picture;
  const dns = dnsOf(picture, at, said);
  const digest = digestOf(
    [
      sectionDigest([settings.entry]),
      sectionDigest([dns]),
      ...peerLists.map((name) => around[name].digest),
      ...listNames.map((name) => sectionDigest(lists[name])),
    ].join('\n'),
  );
  return { settings: settings.entry, dns, digest, ...content };
}

function dnsOf({ settings, unmanaged, entries }: Picture, at: number, said: Said): Entry {
  const managed = said !== nothing && !isFor(unmanaged, at);
  const search = [settings.domain, ...said.dns.flatMap((audience) => audience.search)];
  const dns = managed ? { managed, domain: settings.domain, search: [...new Set(search)] } : { managed };
  const key = managed ? `managed ${search.join(' ')}` : '';
  const known = entries.get(key) ?? writeEntry('dns', dns);
  entries.set(key, known);
  return known;
}

type Content = Pick<SharedMap, 'around' | 'lists' | 'halves'>;

function contentOf(picture: Picture, at: number, said: Said): Content {
  const { access } = picture;
  const halves = { from: halfOf(picture, at, 'from'), to: halfOf(picture, at, 'to') };
  const { neighbours, uses } = surround(access, at, { from: halves.from.reached, to: halves.to.reached });
  const expired = expiredIn(picture);
  const more = new Map<string, Entry>();
  const leads = routesBy(access, at, said.leads, { add: (set) => more.set(set.id, set) });
  const told = (of: DnsAudience['of']) =>
    inOrder(said.dns.filter((audience) => audience.of === of).map(({ what }) => what));
  return {
    halves,
    around: {
      peers: peersIn(picture, subtractBits(neighbours, expired)),
      away: peersIn(picture, intersectBits(neighbours, expired)),
    },
    lists: {
      outbound: halves.from.rules,
      inbound: halves.to.rules,
      routes: routesTo(access, uses),
      leads,
      sets: joinSections(joinSections(halves.from.sets, halves.to.sets), inOrder([...more.values()])),
      users: usersWhoLogIn(access, at),
      zones: told('zones'),
      nameservers: told('nameservers'),
    },
  };
}

function halfOf(picture: Picture, at: number, own: 'from' | 'to'): Half {
  const known = carriedHalf(picture, at, own);
  if (known !== undefined) return known;
  const { access } = picture;
  const about = flowsAbout(access, at, own);
  const sets = new Map<string, Entry>();
  const other = own === 'from' ? 'to' : 'from';
  const rules = rulesOf(access, at, { about, other, sets: { add: (set) => sets.set(set.id, set) } });
  const reach = own === 'from' ? surelyReachedFrom : surelyReachedTo;
  return { reached: reach(access, at, about, 'as another'), rules, sets: inOrder([...sets.values()]) };
}

/** By group: the users that rules let log in. */
function usersWhoLogIn(access: Access, at: number): Section {
  const { logins } = flowTableOf(access);
  const groups = new Set(
    logins.filter(({ to }) => hasBit(to.sure, at)).flatMap(({ by }) => Object.keys(by?.rule.authorized ?? {})),
  );
  return inOrder([...groups].map((id) => writeEntry(id, { id, users: usersOf(id, access.state) })));
}

const noLists = Object.fromEntries(listNames.map((name) => [name, noEntries])) as SharedMap['lists'];

function emptyContent(picture: Picture): Content {
  const nobody = peersIn(picture, noBits);
  return { around: { peers: nobody, away: nobody }, lists: noLists, halves: undefined };
}

function inOrder(entries: Section): Section {
  return entries.length === 0 ? noEntries : [...entries].sort((a, b) => compareTexts(a.id, b.id));
}
