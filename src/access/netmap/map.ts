import { hasBit } from '../../lib/bits/bit-set.ts';
import type { Stored } from '../../model/state/stored.ts';
import type { AccessImage } from '../ruleset/access.ts';
import { changeOfListing } from './listing.ts';
import { expiredIn, isFor, type NetmapBuilder, netmapBuilderOf } from './netmap-builder.ts';
import { writePeer } from './object-readers.ts';
import { changeOfPeers, writePeerSet } from './peer-set.ts';
import { type Entry, hexOf, type Section, type SectionChange, sameDigest, sameEntry, writeEntry } from './section.ts';
import { listNames, peerLists, type SharedMap, sharedMapOf } from './shared.ts';

/** Network map of a peer: the part sent to this peer only (`self`), and the part that peers of the same class share. */
export interface PeerMap {
  readonly self: Entry;
  readonly shared: SharedMap;
}

/** Returns the network map of a peer, or `undefined` when there is no such peer. */
export function networkMapOf(access: AccessImage, peer: string): PeerMap | undefined {
  const at = access.endpoints.slots.get(peer);
  const object = access.state.find('Peer', peer);
  if (at === undefined || object === undefined) return undefined;
  const builder = netmapBuilderOf(access);
  const state = hasBit(access.live, at) ? (hasBit(expiredIn(builder), at) ? 'expired' : 'active') : 'waiting';
  return { self: selfOf(builder, object, at, state), shared: sharedMapOf(builder, at, state === 'active') };
}

/** Returns a digest of a network map. Equal maps have equal digests on every server. */
export function mapDigest({ self, shared }: PeerMap): string {
  return hexOf(shared.digest) + hexOf(self.digest);
}

/** Returns the peer's own part of a map as members of a JSON object, without the braces. */
export function ownText({ self }: PeerMap): string {
  return `"self":${self.text}`;
}

/** Returns the shared part of a map as members of a JSON object, without the braces. */
export function sharedText({ settings, dns, tunnelPeers, lists }: SharedMap): string {
  const written = [
    ...peerLists.map((name) => `"${name}":[${joined(writePeerSet(tunnelPeers[name]))}]`),
    ...listNames.map((name) => `"${name}":[${joined(lists[name].entries)}]`),
  ];
  return [`"settings":${settings.text}`, `"dns":${dns.text}`, ...written].join(',');
}

/** Returns the change of the own part as members of a JSON object, or an empty string when nothing changed. */
export function ownChange(before: PeerMap, after: PeerMap): string {
  return sameEntry(before.self, after.self) ? '' : ownText(after);
}

const changes = new WeakMap<SharedMap, WeakMap<SharedMap, string>>();

/** Returns the change of the shared part as members of a JSON object, or an empty string when nothing changed. */
export function sharedChange(before: SharedMap, after: SharedMap): string {
  if (before === after || sameDigest(before.digest, after.digest)) return '';
  const known = changes.get(before) ?? new WeakMap<SharedMap, string>();
  changes.set(before, known);
  const text = known.get(after) ?? writeChange(before, after);
  known.set(after, text);
  return text;
}

function writeChange(before: SharedMap, after: SharedMap): string {
  const members: string[] = [];
  for (const name of ['settings', 'dns'] as const)
    if (!sameEntry(before[name], after[name])) members.push(`"${name}":${after[name].text}`);
  const add = (name: string, change: SectionChange | undefined): void => {
    if (change !== undefined) members.push(`"${name}":${changeText(change)}`);
  };
  for (const name of peerLists) add(name, changeOfPeers(before.tunnelPeers[name], after.tunnelPeers[name]));
  for (const name of listNames) add(name, changeOfListing(before.lists[name], after.lists[name]));
  return members.join(',');
}

function changeText({ put, remove, edit }: SectionChange): string {
  const edits = edit.length === 0 ? '' : `,"edit":${JSON.stringify(edit)}`;
  return `{"put":[${joined(put)}],"remove":${JSON.stringify(remove)}${edits}}`;
}

function joined(entries: Section): string {
  return entries.map(({ text }) => text).join(',');
}

/** Members of `self` that do not follow from the peer's object. */
interface PeerStatus {
  readonly state: string;
  readonly network_ranges: readonly string[];
  readonly reports_traffic: boolean;
  readonly may_expose: boolean;
}

const selves = new WeakMap<object, { readonly standing: PeerStatus; readonly entry: Entry }>();

function selfOf(
  { settings, logging, exposing }: NetmapBuilder,
  peer: Stored<'Peer'>,
  at: number,
  state: string,
): Entry {
  const { self, entry } = writePeer(peer, settings.domain);
  const known = selves.get(self);
  const [reports_traffic, may_expose] = [isFor(logging, at), isFor(exposing, at)];
  if (
    known?.standing.state === state &&
    known.standing.network_ranges === settings.ranges &&
    known.standing.reports_traffic === reports_traffic &&
    known.standing.may_expose === may_expose
  )
    return known.entry;
  const standing: PeerStatus = { state, network_ranges: settings.ranges, reports_traffic, may_expose };
  const fresh = writeEntry(entry.id, { ...self, ...standing });
  selves.set(self, { standing, entry: fresh });
  return fresh;
}
