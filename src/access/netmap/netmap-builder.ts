import { type BitSet, bitsOf, hasBit, intersectBits, noBits, numbersIn, uniteBits } from '../../lib/bits/bit-set.ts';
import type { Access } from '../ruleset/access.ts';
import { slotsOf } from '../ruleset/endpoints.ts';
import { type Digests, digestOfSlots, reuseDigests } from './digests.ts';
import type { PreviousMaps } from './incremental.ts';
import {
  type ClientSettings,
  type Distributed,
  isExpired,
  readNameservers,
  readSettings,
  readUnmanaged,
  readZones,
  writePeer,
} from './object-readers.ts';
import type { PeerEntries, PeerSet } from './peer-set.ts';
import type { Entry } from './section.ts';
import type { SharedMap } from './shared.ts';

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

/** How it is found out which peers are alike. */
export interface PeerClasses {
  /** How many classes were asked for, and the classes of all peers once that was worth computing. */
  asked: number;
  classes: Int32Array | undefined;
  /** The places of flows that have an end among 32 peers next to each other, by the number of these. */
  readonly near: Map<number, readonly number[]>;
  /** For how many images it is taken for granted that hardly two are. */
  skippedImages: number;
}

/** An image of an account with all that its maps contain in addition; created once for an image. */
export interface NetmapBuilder {
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
  peerEntries: PeerEntries;
  digests: Digests;
  /** The shared parts of maps, by peer class. */
  readonly shared: Map<string | number, SharedMap>;
  /** The same by slot, as far as it was asked for, or is known from before the image. */
  maps: (SharedMap | undefined)[];
  /** What is known from before about peers whose maps may be others now. */
  previous: PreviousMaps | undefined;
  readonly peerClasses: PeerClasses;
  /** The entries of DNS that are in no list, by their text. */
  readonly entries: Map<string, Entry>;
}

const builders = new WeakMap<Access, NetmapBuilder>();

/** The netmap builder of an image. */
export function netmapBuilderOf(access: Access): NetmapBuilder {
  const known = builders.get(access) ?? createNetmapBuilder(access);
  builders.set(access, known);
  return known;
}

/**
 * The netmap builder of an image carried on from another: what is said about peers stays written. `peers` are the ids of those that
 * came, changed or went.
 */
export function reuseNetmapBuilder(before: Access, after: Access, peers: readonly string[]): void {
  const [old, next] = [builders.get(before), netmapBuilderOf(after)];
  if (old === undefined || next.peerClasses.asked > 0 || before.endpoints !== after.endpoints) return;
  if (old.settings.domain !== next.settings.domain) return;
  if (peers.length === 0 && before.observedPeers === after.observedPeers) next.expired = old.expired;
  const slots = peers.map((id) => after.endpoints.slots.get(id) ?? -1);
  next.digests = reuseDigests(old.digests, slots);
  next.peerEntries = old.peerEntries;
  if (peers.length === 0) return;
  next.peerEntries = { endpoints: after.endpoints, entries: [...old.peerEntries.entries] };
  for (const slot of slots) if (slot >= 0) next.peerEntries.entries[slot] = undefined;
}

/** Everything that is meant for the peers of some groups. */
export function audiencesOf({ dns, unmanaged, logging, exposing }: NetmapBuilder): readonly Audience[] {
  return [...dns, unmanaged, logging, exposing];
}

/**
 * Peers whose user has to sign in again, as their objects or observations say: they get no map, and are in no other
 * map.
 */
export function expiredIn(builder: NetmapBuilder): BitSet {
  const { state, endpoints, observedPeers } = builder.access;
  builder.expired ??= uniteBits(
    slotsOf(endpoints, observedPeers.expired),
    bitsOf(
      numbersIn(endpoints.of.peer).filter((slot) => {
        const peer = state.find('Peer', endpoints.ids[slot] ?? '');
        return peer !== undefined && isExpired(peer);
      }),
    ),
  );
  return builder.expired;
}

/** The peers of a set as other maps list them. */
export function peersIn(builder: NetmapBuilder, slots: BitSet): PeerSet {
  const { peerEntries, digests } = builder;
  return { peerEntries, slots, digest: digestOfSlots(digests, slots, (slot) => entryAt(builder, slot)) };
}

/** How other maps list the peer or proxy at a slot; nothing where there is none. */
function entryAt({ access, settings, peerEntries }: NetmapBuilder, slot: number): Entry | undefined {
  const known = peerEntries.entries[slot];
  if (known !== undefined) return known;
  const id = access.endpoints.ids[slot] ?? '';
  const object = access.state.find('Peer', id) ?? access.state.find('ProxyPeer', id);
  if (object === undefined) return undefined;
  const { entry } = writePeer(object, settings.domain);
  peerEntries.entries[slot] = entry;
  return entry;
}

/** The audiences that a peer belongs to. */
export function isFor(audience: Audience, at: number): boolean {
  return hasBit(audience.peers, at);
}

function createNetmapBuilder(access: Access): NetmapBuilder {
  const { state } = access;
  const settings = readSettings(state);
  const { logged, exposing } = settings;
  const everyone = access.endpoints.of.peer;
  const chosen = ({ enabled, groups }: ClientSettings['logged']) =>
    enabled ? (groups.length === 0 ? everyone : membersOf(access, groups)) : noBits;
  const dns = (of: DnsAudience['of'], distributed: readonly Distributed[]) =>
    distributed.map(({ entry, groups, search }): DnsAudience => {
      return { id: entry.id, of, what: entry, search, peers: membersOf(access, groups) };
    });
  return {
    access,
    settings,
    dns: [...dns('zones', readZones(state)), ...dns('nameservers', readNameservers(state))],
    unmanaged: { id: 'unmanaged', what: undefined, peers: membersOf(access, readUnmanaged(state)) },
    logging: { id: 'logging', what: undefined, peers: chosen(logged) },
    exposing: { id: 'exposing', what: undefined, peers: chosen(exposing) },
    expired: undefined,
    peerEntries: { endpoints: access.endpoints, entries: new Array(access.endpoints.ids.length) },
    digests: reuseDigests(undefined, []),
    shared: new Map(),
    maps: new Array(access.endpoints.ids.length),
    previous: undefined,
    entries: new Map(),
    peerClasses: { asked: 0, classes: undefined, near: new Map(), skippedImages: 0 },
  };
}

function membersOf({ groups: known, endpoints }: Access, groups: readonly string[]): BitSet {
  return intersectBits(uniteBits(...groups.map((id) => known.get(id)?.members ?? noBits)), endpoints.of.peer);
}
