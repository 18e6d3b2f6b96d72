import { hasBit, intersectBits, subtractBits } from '../../lib/bit-set.ts';
import type { Access } from '../access.ts';
import type { Flow } from '../flows.ts';
import { compareTexts } from '../named.ts';
import { leadingPlaces, type PlaceAt, surroundingOf } from '../neighbours.ts';
import { spokenAbout } from '../reached.ts';
import { likenessOf } from './likeness.ts';
import { type DnsAudience, expiredIn, isFor, type Picture, peersIn } from './picture.ts';
import { routesBy, routesTo } from './places.ts';
import { rulesOf, type Sets } from './rules.ts';
import { type Digest, digestOf, type Entry, noEntries, type Section, sectionDigest, writeEntry } from './section.ts';
import { usersOf } from './vocabulary.ts';

/** The lists of a map, in the order in which they are written. */
export const listNames = [
  ...(['peers', 'away', 'sets', 'outbound', 'inbound', 'routes', 'leads'] as const),
  ...(['users', 'zones', 'nameservers'] as const),
] as const;

export type ListName = (typeof listNames)[number];

/** What peers of which the same is said are told in common. Lists of peers may name the peer that reads them. */
export interface SharedMap {
  readonly settings: Entry;
  readonly dns: Entry;
  readonly lists: Readonly<Record<ListName, Section>>;
  readonly digest: Digest;
}

/** What is said about a peer. */
interface Said {
  readonly from: readonly Flow[];
  readonly to: readonly Flow[];
  readonly leads: readonly PlaceAt[];
  readonly dns: readonly DnsAudience[];
}

/** What a peer is told in common with all that are alike. */
export function sharedMapOf(picture: Picture, at: number, takesPart: boolean): SharedMap {
  const key = takesPart ? likenessOf(picture, at) : '';
  const known = picture.shared.get(key);
  if (known !== undefined) return known;
  const shared = writeShared(picture, at, takesPart ? whatIsSaid(picture, at) : nothing);
  picture.shared.set(key, shared);
  return shared;
}

const nothing: Said = { from: [], to: [], leads: [], dns: [] };

function whatIsSaid(picture: Picture, at: number): Said {
  const { access } = picture;
  const dns = isFor(picture.unmanaged, at) ? [] : picture.dns.filter((audience) => isFor(audience, at));
  return { ...spokenAbout(access, at), leads: leadingPlaces(access, at), dns };
}

function writeShared(picture: Picture, at: number, said: Said): SharedMap {
  const lists = said === nothing ? noLists : listsOf(picture, at, said);
  const managed = said !== nothing && !isFor(picture.unmanaged, at);
  const { settings } = picture;
  const search = [settings.domain, ...said.dns.flatMap((audience) => audience.search)];
  const dns = managed
    ? writeEntry('dns', { managed, domain: settings.domain, search: [...new Set(search)] })
    : writeEntry('dns', { managed });
  const digest = digestOf(
    [
      sectionDigest([settings.entry]),
      sectionDigest([dns]),
      ...listNames.map((name) => sectionDigest(lists[name])),
    ].join('\n'),
  );
  return { settings: settings.entry, dns, lists, digest };
}

function listsOf(picture: Picture, at: number, { from, to, leads, dns }: Said): SharedMap['lists'] {
  const { access } = picture;
  const { neighbours, uses } = surroundingOf(access, at, { from, to }, 'as another');
  const expired = expiredIn(picture);
  const sets: Sets = new Map();
  const [outbound, inbound] = [
    rulesOf(access, at, { flows: from, other: 'to', sets }),
    rulesOf(access, at, { flows: to, other: 'from', sets }),
  ];
  const told = (of: DnsAudience['of']) => inOrder(dns.filter((audience) => audience.of === of).map(({ what }) => what));
  return {
    peers: peersIn(picture, subtractBits(neighbours, expired)),
    away: peersIn(picture, intersectBits(neighbours, expired)),
    outbound,
    inbound,
    routes: routesTo(access, uses),
    leads: routesBy(access, at, leads, sets),
    sets: inOrder([...sets.values()]),
    users: usersWhoLogIn(access, at, to),
    zones: told('zones'),
    nameservers: told('nameservers'),
  };
}

/** By group: the users that rules let log in. */
function usersWhoLogIn(access: Access, at: number, to: readonly Flow[]): Section {
  const groups = new Set(
    to
      .filter(({ by, drop, to: own }) => !drop && by?.rule.protocol === 'ssh' && hasBit(own.sure, at))
      .flatMap(({ by }) => Object.keys(by?.rule.authorized ?? {})),
  );
  return inOrder([...groups].map((id) => writeEntry(id, { id, users: usersOf(id, access.state) })));
}

const noLists = Object.fromEntries(listNames.map((name) => [name, noEntries])) as SharedMap['lists'];

function inOrder(entries: Section): Section {
  return entries.length === 0 ? noEntries : [...entries].sort((a, b) => compareTexts(a.id, b.id));
}
