import type { AccountAccess } from '../db/database.ts';
import {
  offlineAfterSeconds,
  type PeerStatusRow,
  type PeerStatusUpdate,
  readPeerStatuses,
  writePeerStatuses,
} from '../db/peers/peer-status.ts';
import { equalJson, type JsonObject } from '../lib/json.ts';
import type { ObservationLookup } from '../model/state/observed.ts';
import { createBatcher } from './batcher.ts';

/** Observations about one peer. */
export interface PeerStatus {
  readonly connected: boolean;
  /** Id of the stream by which the peer is connected, or was connected last. */
  readonly stream?: string;
  /**
   * Time since which the peer is not connected; `onlineSince` is the time since which it is connected again after a
   * long time offline. ISO 8601.
   */
  readonly offlineSince?: string;
  readonly onlineSince?: string;
  /** Whether an audit event has reported the peer as offline. */
  readonly offlineReported?: true;
  /** ISO 8601. Absent: never. */
  readonly lastSeen?: string;
  readonly lastLogin?: string;
  /** Facts that the peer reported about itself. */
  readonly facts: JsonObject;
  /** Location of the peer, derived from its public address. */
  readonly location: JsonObject;
  /** Verdicts of endpoint security products about the peer, by id of the integration. Absent when there is none. */
  readonly verdicts?: Readonly<Record<string, string>>;
}

/** Observations about the peers of an account, at a time of the database. */
export interface PresenceImage {
  readonly peers: ReadonlyMap<string, PeerStatus>;
  /**
   * Integrations whose products decide about peers, by id. The value is the reason why none of their verdicts counts at
   * the moment, and empty while they count. The same `Map` as long as nothing in it changes.
   */
  readonly deciding: ReadonlyMap<string, string>;
  /** Time of the read, by the database's clock, in ISO 8601. */
  readonly now: string;
}

/**
 * Called when there are new observations about these peers of an account, or when the integrations that decide about
 * its peers changed.
 */
export type PresenceListener = (account: string, peers: readonly string[]) => void;

/** Observations about peers. Stored apart from the revisions; every server sees what any server wrote. */
export interface Presence {
  /** Returns everything that was written until now. */
  read(account: string): Promise<PresenceImage>;
  /** Writes an update, together with other updates that arrive at the same moment. Resolves when it is stored. */
  record(account: string, update: PeerStatusUpdate): Promise<void>;
  /**
   * Forgets the observations about deleted peers. Their rows were deleted with them, and no read reports a deleted row.
   */
  forget(account: string, peers: readonly string[]): void;
  /** Called with the changes that this server read, including its own writes. */
  readonly listeners: Set<PresenceListener>;
  /** Called with the account when this server wrote facts or addresses of its peers. A later read shows what is new. */
  readonly writeListeners: Set<(account: string) => void>;
  /** Reports that a commit wrote facts or addresses of peers, without `record`. */
  reportWrite(account: string): void;
}

interface CachedPresence {
  peers: Map<string, PeerStatus>;
  deciding: ReadonlyMap<string, string>;
  mark: string;
}

/** Maximum number of accounts in memory. A forgotten account is read again. */
const maxAccounts = 1000;

/** Creates the presence. An account is read once in full, and then only its changes are read. */
export function createPresence(database: AccountAccess): Presence {
  const known = new Map<string, CachedPresence>();
  const listeners = new Set<PresenceListener>();
  const written: Presence['writeListeners'] = new Set();
  const wrote = (account: string): void => {
    for (const listener of written) listener(account);
  };
  const reading = createBatcher<string, undefined, PresenceImage>(async (account) => {
    const present = known.get(account) ?? { peers: new Map(), deciding: new Map(), mark: '0' };
    const { rows, mark, now, deciding } = await readPeerStatuses(database, account, present.mark);
    const changed = mergeRows(present, rows);
    const isDecidedOtherwise = !isSame(Object.fromEntries(present.deciding), deciding);
    if (isDecidedOtherwise) present.deciding = new Map(Object.entries(deciding));
    present.mark = mark;
    known.delete(account);
    known.set(account, present);
    if (known.size > maxAccounts) known.delete(known.keys().next().value ?? '');
    if (changed.length > 0 || isDecidedOtherwise) for (const listener of listeners) listener(account, changed);
    const image = { peers: present.peers, deciding: present.deciding, now: now.toISOString() };
    return () => image;
  });
  const writing = createBatcher<string, PeerStatusUpdate, undefined>(async (account, updates) => {
    for (const round of splitIntoRounds(updates)) await writePeerStatuses(database, account, round);
    return () => undefined;
  });
  return {
    ...{ listeners, writeListeners: written, reportWrite: wrote },
    read: (account) => reading(account, undefined),
    async record(account, update) {
      await writing(account, update);
      if (isNew(known.get(account), update)) wrote(account);
    },
    forget(account, peers) {
      const present = known.get(account);
      if (present === undefined || peers.length === 0) return;
      const left = new Map(present.peers);
      for (const peer of peers) left.delete(peer);
      present.peers = left;
    },
  };
}

/** Returns whether an update contains facts or an address of the peer that are not known yet. */
function isNew(known: CachedPresence | undefined, { peer, facts, location }: PeerStatusUpdate): boolean {
  const status = known?.peers.get(peer);
  const isOther = (value: JsonObject | undefined, before: JsonObject | undefined): boolean =>
    value !== undefined && !equalJson(value, before);
  return isOther(facts, status?.facts) || isOther(location, status?.location);
}

/**
 * Adds rows, and returns the peers about which they contain something new. Replaces the map, so that earlier images do
 * not change.
 */
function mergeRows(known: CachedPresence, rows: readonly PeerStatusRow[]): readonly string[] {
  const changed = rows.flatMap((row) => {
    const before = known.peers.get(row.peer_id);
    const after = statusOf(row);
    return before !== undefined && isSame(before, after)
      ? []
      : [[row.peer_id, reuseUnchangedParts(before, after)] as const];
  });
  if (changed.length === 0) return [];
  known.peers = new Map([...known.peers, ...changed]);
  return changed.map(([id]) => id);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the new status with the unchanged parts of the old one, so that comparing references finds changes. */
function reuseUnchangedParts(before: PeerStatus | undefined, after: PeerStatus): PeerStatus {
  if (before === undefined) return after;
  return {
    ...after,
    facts: isSame(before.facts, after.facts) ? before.facts : after.facts,
    location: isSame(before.location, after.location) ? before.location : after.location,
    ...(before.verdicts !== undefined && isSame(before.verdicts, after.verdicts) ? { verdicts: before.verdicts } : {}),
  };
}

function statusOf(row: PeerStatusRow): PeerStatus {
  const { connected, stream, offline_since, online_since, offline_reported } = row;
  const { last_seen, last_login, facts, place, verdicts } = row;
  return {
    connected: connected === true,
    ...(stream === null ? {} : { stream }),
    ...(offline_since === null ? {} : { offlineSince: offline_since.toISOString() }),
    ...(online_since === null ? {} : { onlineSince: online_since.toISOString() }),
    ...(offline_reported ? { offlineReported: true } : {}),
    ...(last_seen === null ? {} : { lastSeen: last_seen.toISOString() }),
    ...(last_login === null ? {} : { lastLogin: last_login.toISOString() }),
    facts: facts ?? {},
    location: place ?? {},
    ...(verdicts === null ? {} : { verdicts }),
  };
}

/**
 * Splits updates into rounds, because each statement may name a peer only once. Updates of one peer keep their order.
 */
function splitIntoRounds(updates: readonly PeerStatusUpdate[]): readonly (readonly PeerStatusUpdate[])[] {
  const made: PeerStatusUpdate[][] = [];
  const seen = new Map<string, number>();
  for (const update of updates) {
    const at = seen.get(update.peer) ?? 0;
    seen.set(update.peer, at + 1);
    const round = made[at] ?? [];
    made[at] = round;
    round.push(update);
  }
  return made;
}

/** Returns the observations that answers about a peer show. */
export function observedIn({ peers, now }: PresenceImage): ObservationLookup {
  return (id) => {
    const status = peers.get(id);
    if (status === undefined) return undefined;
    return isOffline(status, now) ? cachedShown(offlineShown, status, true) : cachedShown(onlineShown, status, false);
  };
}

type Shown = WeakMap<PeerStatus, JsonObject>;

const [onlineShown, offlineShown]: readonly [Shown, Shown] = [new WeakMap(), new WeakMap()];

/**
 * Returns what is shown of a status. The same object as long as nothing in it changes, so that comparing references
 * finds changes.
 */
function cachedShown(memory: Shown, status: PeerStatus, offline: boolean): JsonObject {
  const present = memory.get(status);
  if (present !== undefined) return present;
  const { connected, lastSeen, lastLogin, facts, location } = status;
  const shown: JsonObject = {
    ...facts,
    ...location,
    connected,
    offline,
    ...(lastSeen === undefined ? {} : { last_seen: lastSeen }),
    ...(lastLogin === undefined ? {} : { last_login: lastLogin }),
  };
  memory.set(status, shown);
  return shown;
}

/** Time that a peer must stay connected after it was offline until it counts as online, in seconds. */
const steadySeconds = 15;

/**
 * Returns whether a peer has been away for longer than a moment. `now` is the time of the database. A short
 * interruption does not count, nor does a short return, so that the result does not flap.
 */
export function isOffline(status: PeerStatus | undefined, now: string): boolean {
  if (status === undefined) return true;
  const { connected, onlineSince, offlineSince = status.lastSeen } = status;
  const wasSteadyAt = (time: string): boolean =>
    onlineSince === undefined || secondsBetween(onlineSince, time) >= steadySeconds;
  if (connected) return !wasSteadyAt(now);
  if (offlineSince === undefined || !wasSteadyAt(offlineSince)) return true;
  return secondsBetween(offlineSince, now) > offlineAfterSeconds;
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}
