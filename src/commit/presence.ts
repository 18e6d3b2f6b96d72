import type { AccountAccess } from '../db/database.ts';
import {
  offlineAfterSeconds,
  readStatuses,
  type StatusRow,
  type StatusUpdate,
  writeStatuses,
} from '../db/peers/peer-status.ts';
import { equalJson, type JsonObject } from '../lib/json.ts';
import type { Observed } from '../model/state/observed.ts';
import { createBatcher } from './batcher.ts';

/** What is observed about one peer. */
export interface PeerStatus {
  readonly connected: boolean;
  /** The stream by which it is, or was last, connected. */
  readonly stream?: string;
  /** Since when it is not connected, and since when it is again after it was offline for long; ISO 8601. */
  readonly offlineSince?: string;
  readonly onlineSince?: string;
  /** Whether an audit event says that it is offline. */
  readonly offlineReported?: true;
  /** ISO 8601; absent when never. */
  readonly lastSeen?: string;
  readonly lastLogin?: string;
  /** What it reported about itself. */
  readonly facts: JsonObject;
  /** Where it is, by its public address. */
  readonly place: JsonObject;
  /** What products of endpoint security say about it, by id of the integration; absent while none does. */
  readonly verdicts?: Readonly<Record<string, string>>;
}

/** What is observed about the peers of an account, at the time of the database. */
export interface PresenceImage {
  readonly peers: ReadonlyMap<string, PeerStatus>;
  /**
   * By id, the integrations whose products decide about peers, and why none of their verdicts counts at the moment: an empty
   * text while they do. The same value as long as nothing in it changes.
   */
  readonly deciding: ReadonlyMap<string, string>;
  /** When it was read, by the database's clock; ISO 8601. */
  readonly now: string;
}

/** Called when something new was observed about these peers of an account, or about who decides about peers of it. */
export type PresenceListener = (account: string, peers: readonly string[]) => void;

/** What is observed about peers. Kept in the store beside the revisions; every server sees what any of them wrote. */
export interface Presence {
  /** Everything that was written until now. */
  at(account: string): Promise<PresenceImage>;
  /** Writes what is new together with what others bring at this moment; resolves when it is stored. */
  note(account: string, update: StatusUpdate): Promise<void>;
  /**
   * Forgets what was observed about peers that were deleted: their rows were deleted with them, and no read reports
   * that.
   */
  forget(account: string, peers: readonly string[]): void;
  /** Called by this server with what it read, its own writes included. */
  readonly listeners: Set<PresenceListener>;
  /** Called with the accounts of whose peers this server wrote facts or addresses; a read says what is new. */
  readonly written: Set<(account: string) => void>;
  /** Says that such was written beside this, by a commit. */
  wrote(account: string): void;
}

interface Known {
  peers: Map<string, PeerStatus>;
  deciding: ReadonlyMap<string, string>;
  mark: string;
}

/** How many accounts are remembered; a forgotten one is read again. */
const mostAccounts = 1000;

/** Creates the image of what is observed; it is read once for each account, and from then on what changed. */
export function createPresence(database: AccountAccess): Presence {
  const known = new Map<string, Known>();
  const listeners = new Set<PresenceListener>();
  const written: Presence['written'] = new Set();
  const wrote = (account: string): void => {
    for (const listener of written) listener(account);
  };
  const reading = createBatcher<string, undefined, PresenceImage>(async (account) => {
    const present = known.get(account) ?? { peers: new Map(), deciding: new Map(), mark: '0' };
    const { rows, mark, now, deciding } = await readStatuses(database, account, present.mark);
    const changed = take(present, rows);
    const isDecidedOtherwise = !isSame(Object.fromEntries(present.deciding), deciding);
    if (isDecidedOtherwise) present.deciding = new Map(Object.entries(deciding));
    present.mark = mark;
    known.delete(account);
    known.set(account, present);
    if (known.size > mostAccounts) known.delete(known.keys().next().value ?? '');
    if (changed.length > 0 || isDecidedOtherwise) for (const listener of listeners) listener(account, changed);
    const image = { peers: present.peers, deciding: present.deciding, now: now.toISOString() };
    return () => image;
  });
  const writing = createBatcher<string, StatusUpdate, undefined>(async (account, updates) => {
    for (const round of rounds(updates)) await writeStatuses(database, account, round);
    return () => undefined;
  });
  return {
    ...{ listeners, written, wrote },
    at: (account) => reading(account, undefined),
    async note(account, update) {
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

/** Whether an update contains something about the peer that is not known yet. */
function isNew(known: Known | undefined, { peer, facts, place }: StatusUpdate): boolean {
  const status = known?.peers.get(peer);
  const isOther = (value: JsonObject | undefined, before: JsonObject | undefined): boolean =>
    value !== undefined && !equalJson(value, before);
  return isOther(facts, status?.facts) || isOther(place, status?.place);
}

/** Takes rows in; returns which peers they say something new about. The map is replaced, so that an image stays as it was. */
function take(known: Known, rows: readonly StatusRow[]): readonly string[] {
  const changed = rows.flatMap((row) => {
    const before = known.peers.get(row.peer_id);
    const after = statusOf(row);
    return before !== undefined && isSame(before, after) ? [] : [[row.peer_id, sharing(before, after)] as const];
  });
  if (changed.length === 0) return [];
  known.peers = new Map([...known.peers, ...changed]);
  return changed.map(([id]) => id);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What stayed the same is the same value, so that a comparison of references shows it. */
function sharing(before: PeerStatus | undefined, after: PeerStatus): PeerStatus {
  if (before === undefined) return after;
  return {
    ...after,
    facts: isSame(before.facts, after.facts) ? before.facts : after.facts,
    place: isSame(before.place, after.place) ? before.place : after.place,
    ...(before.verdicts !== undefined && isSame(before.verdicts, after.verdicts) ? { verdicts: before.verdicts } : {}),
  };
}

function statusOf(row: StatusRow): PeerStatus {
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
    place: place ?? {},
    ...(verdicts === null ? {} : { verdicts }),
  };
}

/** Each statement names a peer once: what comes twice is written in the order in which it came. */
function rounds(updates: readonly StatusUpdate[]): readonly (readonly StatusUpdate[])[] {
  const made: StatusUpdate[][] = [];
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

/** What answers about a peer show of what is observed. */
export function observedIn({ peers, now }: PresenceImage): Observed {
  return (id) => {
    const status = peers.get(id);
    if (status === undefined) return undefined;
    return isOffline(status, now) ? shownOnce(offlineShown, status, true) : shownOnce(onlineShown, status, false);
  };
}

type Shown = WeakMap<PeerStatus, JsonObject>;

const [onlineShown, offlineShown]: readonly [Shown, Shown] = [new WeakMap(), new WeakMap()];

/** The same value as long as nothing in it changes, so that a comparison of references shows that. */
function shownOnce(memory: Shown, status: PeerStatus, offline: boolean): JsonObject {
  const present = memory.get(status);
  if (present !== undefined) return present;
  const { connected, lastSeen, lastLogin, facts, place } = status;
  const shown: JsonObject = {
    ...facts,
    ...place,
    connected,
    offline,
    ...(lastSeen === undefined ? {} : { last_seen: lastSeen }),
    ...(lastLogin === undefined ? {} : { last_login: lastLogin }),
  };
  memory.set(status, shown);
  return shown;
}

/** For how long a peer that comes back after it was offline has to stay until it counts as online. */
const steadySeconds = 15;

/**
 * Whether a peer has been away for longer than a moment; `now` is the time of the database. A short interruption does not
 * count, and neither does a short return: what depends on it does not alternate.
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
