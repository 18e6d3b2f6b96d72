import {
  networkMapOf,
  ownChange,
  ownText,
  type PeerMap,
  sharedChange,
  sharedText,
} from '../../src/access/netmap/map.ts';
import type { AccessImage } from '../../src/access/ruleset/access.ts';
import type { Interval } from '../../src/lib/bits/intervals.ts';

interface Named {
  readonly id: string;
}

export interface ReadRule extends Named {
  readonly action: 'accept' | 'drop';
  readonly protocol: string;
  readonly ports: readonly Interval[];
  readonly set: string;
  readonly authorized_groups?: Readonly<Record<string, readonly string[]>>;
}

export interface ReadDestination extends Named {
  readonly ways: readonly { readonly id: string; readonly peers?: readonly string[] }[];
  readonly rules?: readonly ReadRule[];
}

/** A network map as the client stores it. */
export interface ReadMap {
  readonly self: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly dns: { readonly managed: boolean; readonly domain?: string; readonly search?: readonly string[] };
  readonly peers: readonly (Named & Readonly<Record<string, unknown>>)[];
  readonly away: readonly Named[];
  readonly sets: readonly (Named & { readonly peers: readonly string[] })[];
  readonly outbound: readonly ReadRule[];
  readonly inbound: readonly ReadRule[];
  readonly routes: readonly ReadDestination[];
  readonly leads: readonly ReadDestination[];
  readonly users: readonly (Named & { readonly users: readonly string[] })[];
  readonly zones: readonly (Named & Readonly<Record<string, unknown>>)[];
  readonly nameservers: readonly (Named & Readonly<Record<string, unknown>>)[];
  readonly forwards: readonly (Named & Readonly<Record<string, unknown>>)[];
}

/** Reads the full map of a peer. Returns `undefined` when the image has no map for it. */
export function readMap(access: AccessImage, peer: string): ReadMap | undefined {
  const map = networkMapOf(access, peer);
  return map === undefined ? undefined : parseMap(map);
}

export function parseMap(map: PeerMap): ReadMap {
  return JSON.parse(`{${ownText(map)},${sharedText(map.shared)}}`);
}

interface Change {
  readonly put: readonly Named[];
  readonly remove: readonly string[];
  readonly edit?: readonly {
    readonly id: string;
    readonly add: readonly string[];
    readonly remove: readonly string[];
  }[];
}

/** Returns the text that the server sends about a change; empty when the map is unchanged. */
export function writtenChange(before: PeerMap, after: PeerMap): string {
  return [ownChange(before, after), sharedChange(before.shared, after.shared)].filter((text) => text !== '').join(',');
}

/** Returns the map after a change, computed as a client does. */
export function followChange(map: ReadMap, text: string): ReadMap {
  const change = JSON.parse(`{${text}}`) as Readonly<Record<string, unknown>>;
  const members = Object.entries(change).map(([name, value]) => {
    if (['self', 'settings', 'dns'].includes(name)) return [name, value];
    return [name, followList(map[name as 'peers'], value as Change)];
  });
  return { ...map, ...Object.fromEntries(members) };
}

function followList(list: readonly Named[], { put, remove, edit = [] }: Change): readonly Named[] {
  const entries = new Map(list.map((entry) => [entry.id, entry]));
  for (const id of remove) entries.delete(id);
  for (const entry of put) entries.set(entry.id, entry);
  for (const { id, add, remove: gone } of edit) {
    const { peers } = entries.get(id) as ReadMap['sets'][number];
    entries.set(id, { id, peers: [...peers.filter((peer) => !gone.includes(peer)), ...add].sort() } as Named);
  }
  return [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
