import {
  type BitSet,
  bitsOf,
  hasBit,
  intersectBits,
  isEmptyBits,
  noBits,
  numbersIn,
  uniteBits,
} from '../../lib/bit-set.ts';
import type { StoredObject } from '../../model/object.ts';
import type { Access } from '../access.ts';
import { slotsInOrder, slotsOf } from '../ends.ts';
import { type Entry, noEntries, type Section } from './section.ts';
import type { SharedMap } from './shared.ts';
import {
  type ClientSettings,
  type Distributed,
  isExpired,
  readNameservers,
  readSettings,
  readUnmanaged,
  readZones,
  writePeer,
} from './vocabulary.ts';

/** Something that is meant for the peers of some groups; `what` is another value when it changed. */
export interface Audience {
  readonly id: string;
  readonly what: unknown;
  readonly peers: BitSet;
}

/** An audience of something of DNS. */
export interface DnsAudience extends Audience {
  readonly what: Entry;
  readonly of: 'zones' | 'nameservers';
  readonly search: readonly string[];
}

/** An image of an account with all that its maps tell besides; made once for an image. */
export interface Picture {
  readonly access: Access;
  readonly settings: ClientSettings;
  readonly dns: readonly DnsAudience[];
  /** Peers that keep the DNS configuration of their machine. */
  readonly unmanaged: Audience;
  /** Peers that report their traffic. */
  readonly logging: Audience;
  /** Peers that may publish services. */
  readonly exposing: Audience;
  /** Peers whose user has to sign in again; looked for when they are asked for. */
  expired: BitSet | undefined;
  /** What others are told about each peer, by its slot; filled as it is needed. */
  readonly told: (Entry | undefined)[];
  /** The peers of sets that were asked for, by the set. */
  readonly sections: Map<string, Section>;
  /** What peers that are alike are told in common, by their likeness. */
  readonly shared: Map<string | number, SharedMap>;
  /** How often somebody asked what a peer is like, and what all are like once that was worth it. */
  asked: number;
  classes: Int32Array | undefined;
}

const pictures = new WeakMap<Access, Picture>();

/** The picture of an image. */
export function pictureOf(access: Access): Picture {
  const known = pictures.get(access) ?? drawPicture(access);
  pictures.set(access, known);
  return known;
}

/**
 * The picture of an image carried on from another: what is said about peers stays written. `peers` are the ids of those that
 * came, changed or went.
 */
export function carryPicture(before: Access, after: Access, peers: readonly string[]): void {
  const [old, next] = [pictures.get(before), pictureOf(after)];
  if (old === undefined || next.told.length > 0 || before.ends !== after.ends) return;
  if (old.settings.domain !== next.settings.domain) return;
  next.told.push(...old.told);
  if (peers.length === 0 && before.circumstances === after.circumstances) next.expired = old.expired;
  for (const id of peers) delete next.told[after.ends.slots.get(id) ?? -1];
  if (peers.length === 0 && old.sections.size < mostSections)
    for (const [set, section] of old.sections) next.sections.set(set, section);
}

/** How many sections are carried on; beyond that most are of sets that nobody has any more. */
const mostSections = 2000;

/** Everything that is meant for the peers of some groups. */
export function audiencesOf({ dns, unmanaged, logging, exposing }: Picture): readonly Audience[] {
  return [...dns, unmanaged, logging, exposing];
}

/** Peers whose user has to sign in again, as their objects or the circumstances say: they are told nothing, and are away. */
export function expiredIn(picture: Picture): BitSet {
  const { state, ends, circumstances } = picture.access;
  picture.expired ??= uniteBits(
    slotsOf(ends, circumstances.expired),
    bitsOf(
      numbersIn(ends.of.peer).filter((slot) => {
        const peer = state.get(ends.ids[slot] ?? '');
        return peer !== undefined && isExpired(peer);
      }),
    ),
  );
  return picture.expired;
}

/** The peers of a set as others are told about them, in order; equal sets give the same section. */
export function peersIn(picture: Picture, slots: BitSet): Section {
  if (isEmptyBits(slots)) return noEntries;
  // The words of a set, as characters.
  const key = Buffer.from(slots.buffer, slots.byteOffset, slots.byteLength).toString('latin1');
  const known = picture.sections.get(key) ?? writePeers(picture, slots);
  picture.sections.set(key, known);
  return known;
}

function writePeers({ access, settings, told }: Picture, slots: BitSet): Section {
  const { ends, state } = access;
  return slotsInOrder(ends, slots).map((slot) => {
    const known = told[slot];
    if (known !== undefined) return known;
    // A slot of a peer that is taken has its object.
    const { entry } = writePeer(state.get(ends.ids[slot] as string) as StoredObject, settings.domain);
    told[slot] = entry;
    return entry;
  });
}

/** The audiences that a peer belongs to. */
export function isFor(audience: Audience, at: number): boolean {
  return hasBit(audience.peers, at);
}

function drawPicture(access: Access): Picture {
  const { state } = access;
  const settings = readSettings(state);
  const { logged, exposing } = settings;
  const everyone = access.ends.of.peer;
  const chosen = ({ enabled, groups }: ClientSettings['logged']) =>
    enabled ? (groups.length === 0 ? everyone : membersOf(access, groups)) : noBits;
  const dns = (of: DnsAudience['of'], things: readonly Distributed[]) =>
    things.map(({ entry, groups, search }): DnsAudience => {
      return { id: entry.id, of, what: entry, search, peers: membersOf(access, groups) };
    });
  return {
    access,
    settings,
    dns: [...dns('zones', readZones(state)), ...dns('nameservers', readNameservers(state))],
    unmanaged: { id: 'unmanaged', what: undefined, peers: membersOf(access, readUnmanaged(state)) },
    logging: { id: 'logging', what: undefined, peers: chosen(logged) },
    exposing: { id: 'exposing', what: undefined, peers: chosen(exposing) },
    asked: 0,
    classes: undefined,
    expired: undefined,
    told: [],
    sections: new Map(),
    shared: new Map(),
  };
}

function membersOf({ groups: known, ends }: Access, groups: readonly string[]): BitSet {
  return intersectBits(uniteBits(...groups.map((id) => known.get(id)?.members ?? noBits)), ends.of.peer);
}
