import { type BitSet, bitsOf, hasBit, intersectBits, noBits, numbersIn, uniteBits } from '../../lib/bits/bit-set.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { slotsOf } from '../ruleset/endpoints.ts';
import { type Digests, digestOfSlots, reuseDigests } from './digests.ts';
import type { PreviousMaps } from './incremental.ts';
import {
  type ClientSettings,
  type DistributedDns,
  isExpired,
  readNameservers,
  readSettings,
  readUnmanagedGroups,
  readZones,
  writePeer,
} from './object-readers.ts';
import type { PeerEntries, PeerSet } from './peer-set.ts';
import type { Entry } from './section.ts';
import type { SharedMap } from './shared.ts';

/**
 * Setting or object that applies to the peers of some groups. `content` is a different value when the content changed.
 */
export interface Audience {
  readonly id: string;
  readonly content: unknown;
  readonly peers: BitSet;
}

/** Audience of a DNS zone or nameserver group. */
export interface DnsAudience extends Audience {
  readonly content: Entry;
  readonly listName: 'zones' | 'nameservers';
  readonly search: readonly string[];
}

/** State of the search for peers with equal maps. */
export interface PeerClasses {
  /**
   * Number of classes requested so far. `classes` lists the classes of all peers by slot, once enough were requested.
   */
  requestCount: number;
  classes: Int32Array | undefined;
  /**
   * Positions of the flows that have an endpoint among 32 adjacent slots, by the number of that block (`slot >>> 5`).
   */
  readonly flowsByBlock: Map<number, readonly number[]>;
  /**
   * Number of images, this one included, for which the search is skipped because hardly any two peers had equal maps.
   */
  skippedImages: number;
}

/** A compiled image (`AccessImage`) with everything else that its maps contain. Created once per image. */
export interface NetmapBuilder {
  readonly access: AccessImage;
  readonly settings: ClientSettings;
  readonly dns: readonly DnsAudience[];
  /** Peers that keep the DNS configuration of their machine. */
  readonly unmanagedDns: Audience;
  /** Peers that report their traffic. */
  readonly logging: Audience;
  /** Peers that may publish services. */
  readonly exposing: Audience;
  /** Peers whose user has to sign in again. Computed at first use, see `expiredIn`. */
  expired: BitSet | undefined;
  peerEntries: PeerEntries;
  digests: Digests;
  /** The shared parts of maps, by peer class. */
  readonly shared: Map<string | number, SharedMap>;
  /** Shared parts by slot: those that were requested, or that the previous image had and no change touched. */
  maps: (SharedMap | undefined)[];
  /** Data of the previous image from which the maps of touched peers are updated. */
  previous: PreviousMaps | undefined;
  readonly peerClasses: PeerClasses;
  /** The `dns` entries of shared maps, by their content. */
  readonly dnsEntries: Map<string, Entry>;
}

const builders = new WeakMap<AccessImage, NetmapBuilder>();

/** Returns the netmap builder of an image. Creates it at the first call. */
export function netmapBuilderOf(access: AccessImage): NetmapBuilder {
  const known = builders.get(access) ?? createNetmapBuilder(access);
  builders.set(access, known);
  return known;
}

/**
 * Passes written peers, and digests, from the builder of an image on to the builder of its successor. `peers` lists the
 * ids of peers and proxies that were added, changed or removed in between.
 */
export function reuseNetmapBuilder(before: AccessImage, after: AccessImage, peers: readonly string[]): void {
  const [old, next] = [builders.get(before), netmapBuilderOf(after)];
  if (old === undefined || next.peerClasses.requestCount > 0 || before.endpoints !== after.endpoints) return;
  if (old.settings.domain !== next.settings.domain) return;
  if (peers.length === 0 && before.observedPeers === after.observedPeers) next.expired = old.expired;
  const slots = peers.map((id) => after.endpoints.slots.get(id) ?? -1);
  next.digests = reuseDigests(old.digests, slots);
  next.peerEntries = old.peerEntries;
  if (peers.length === 0) return;
  next.peerEntries = { endpoints: after.endpoints, entries: [...old.peerEntries.entries] };
  for (const slot of slots) if (slot >= 0) next.peerEntries.entries[slot] = undefined;
}

/** Returns all audiences of an image. */
export function audiencesOf({ dns, unmanagedDns, logging, exposing }: NetmapBuilder): readonly Audience[] {
  return [...dns, unmanagedDns, logging, exposing];
}

/**
 * Returns the peers whose user has to sign in again, by their objects or by observation. Their own maps are empty, and
 * other maps list them in `away` instead of `peers`.
 */
export function expiredIn(builder: NetmapBuilder): BitSet {
  const { state, endpoints, observedPeers } = builder.access;
  builder.expired ??= uniteBits(
    slotsOf(endpoints, observedPeers.expired),
    bitsOf(
      numbersIn(endpoints.byType.peer).filter((slot) => {
        const peer = state.find('Peer', endpoints.ids[slot] ?? '');
        return peer !== undefined && isExpired(peer);
      }),
    ),
  );
  return builder.expired;
}

/** Returns a set of peers and proxies, written as other maps list them. */
export function peersIn(builder: NetmapBuilder, slots: BitSet): PeerSet {
  const { peerEntries, digests } = builder;
  return { peerEntries, slots, digest: digestOfSlots(digests, slots, (slot) => entryAt(builder, slot)) };
}

/** Returns the entry of the peer or proxy at a slot, or `undefined` when the slot has neither. */
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

/** Whether a peer belongs to an audience. */
export function isFor(audience: Audience, at: number): boolean {
  return hasBit(audience.peers, at);
}

function createNetmapBuilder(access: AccessImage): NetmapBuilder {
  const { state } = access;
  const settings = readSettings(state);
  const { trafficLogging, exposing } = settings;
  const everyone = access.endpoints.byType.peer;
  const chosen = ({ enabled, groups }: ClientSettings['trafficLogging']) =>
    enabled ? (groups.length === 0 ? everyone : membersOf(access, groups)) : noBits;
  const dns = (of: DnsAudience['listName'], distributed: readonly DistributedDns[]) =>
    distributed.map(({ entry, groups, search }): DnsAudience => {
      return { id: entry.id, listName: of, content: entry, search, peers: membersOf(access, groups) };
    });
  return {
    access,
    settings,
    dns: [...dns('zones', readZones(state)), ...dns('nameservers', readNameservers(state))],
    unmanagedDns: { id: 'unmanaged', content: undefined, peers: membersOf(access, readUnmanagedGroups(state)) },
    logging: { id: 'logging', content: undefined, peers: chosen(trafficLogging) },
    exposing: { id: 'exposing', content: undefined, peers: chosen(exposing) },
    expired: undefined,
    peerEntries: { endpoints: access.endpoints, entries: new Array(access.endpoints.ids.length) },
    digests: reuseDigests(undefined, []),
    shared: new Map(),
    maps: new Array(access.endpoints.ids.length),
    previous: undefined,
    dnsEntries: new Map(),
    peerClasses: { requestCount: 0, classes: undefined, flowsByBlock: new Map(), skippedImages: 0 },
  };
}

function membersOf({ groups: known, endpoints }: AccessImage, groups: readonly string[]): BitSet {
  return intersectBits(uniteBits(...groups.map((id) => known.get(id)?.members ?? noBits)), endpoints.byType.peer);
}
