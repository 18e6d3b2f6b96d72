import type { Engine } from '../../../commit/engine.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { AccountStreams } from './account-streams.ts';
import { type Admission, createAdmission } from './admission.ts';
import { createReadScheduler } from './read-scheduler.ts';
import type { Sink } from './sink.ts';
import { Stream } from './stream.ts';
import { createSharedBytes } from './update.ts';

/** Listener for peers that connect and disconnect. */
export interface ConnectionListener {
  connected(account: string, peer: string, stream: string, location?: JsonObject): void;
  gone(account: string, peer: string, stream: string): void;
}

/** Options of the streams of a server. */
export interface HubOptions {
  readonly engine: Engine;
  readonly listener: ConnectionListener;
  /** Milliseconds since 1970. */
  now(): number;
  failed(error: unknown): void;
  /** Maximum number of first events that readers have not received completely. */
  readonly maxUnfinishedStarts?: number;
  /** Interval of keep-alives on silent streams and of reading everything acknowledged, in milliseconds. */
  readonly tickMs?: number;
  /** Time for which a reader may lag behind, in milliseconds. */
  readonly maxLagMs?: number;
  /** Time for which a slow reader keeps its place in the admission, in milliseconds. */
  readonly admissionTimeoutMs?: number;
  /** Time for which new observations of peers are collected before an account is read again, in milliseconds. */
  readonly observationDelayMs?: number;
}

/** A connecting peer. */
export interface JoiningPeer {
  readonly account: string;
  readonly peer: string;
  /** Revision at which the peer was authenticated. */
  readonly revision: number;
  /** Id of the last event that the peer saw. */
  readonly lastEventId: string | undefined;
  /** Current location of the peer. */
  readonly location?: JsonObject;
  readonly sink: Sink;
}

/** The connected peers of this server. */
export interface Hub {
  /**
   * Admits a peer. It is sent its map when its turn comes, and then every change. Returns a function to call when the
   * connection is closed.
   */
  join(joining: JoiningPeer): () => void;
  /** Number of connected peers. */
  readonly size: number;
  /** Tells all streams that the server stops, and ends them. */
  close(): void;
}

/** Creates the registry of connected peers. It learns of new revisions from the notices of all servers. */
export function createHub(options: HubOptions): Hub {
  const { engine, listener, now, failed, maxUnfinishedStarts = 64 } = options;
  const { tickMs = 15_000, maxLagMs = 60_000, admissionTimeoutMs = 2000, observationDelayMs = 500 } = options;
  const accounts = new Map<string, AccountStreams>();
  const idle = new Map<string, number>();
  const bytes = createSharedBytes();
  const admission = createAdmission(maxUnfinishedStarts);

  const accountOf = (account: string): AccountStreams => {
    const known = accounts.get(account) ?? new AccountStreams({ engine, account, bytes, now, failed });
    accounts.set(account, known);
    idle.delete(account);
    return known;
  };
  const follow = (account: AccountStreams): void => {
    // Accounts without streams are read when a peer connects.
    if (account.size > 0) void account.follow();
  };
  const followAll = (): void => {
    for (const account of accounts.values()) follow(account);
  };
  const scheduler = createReadScheduler(observationDelayMs, (id) => {
    const account = accounts.get(id);
    if (account !== undefined) follow(account);
  });
  const unlisten = [
    engine.notices.on((notice) => {
      // When an account is deleted, reading it fails, which ends the streams of its peers.
      if (notice.what === 'gone') void accounts.get(notice.account)?.follow();
      if (notice.what === 'verdicts') scheduler.schedule(notice.account);
      if (notice.what === 'revision') void accounts.get(notice.account)?.follow(notice.revision);
    }),
    addListener(engine.preparers, (base, next) => accounts.get(next.account)?.prepare(base, next)),
    engine.notices.onMissed(followAll),
    // A read that finds new observations is not repeated at once: while thousands of peers connect, each finds some.
    addListener(engine.presence.listeners, scheduler.schedule),
    addListener(engine.presence.writeListeners, scheduler.schedule),
  ];
  const timer = setInterval(() => {
    for (const [id, account] of accounts) {
      for (const stream of account.streams()) stream.tick(now() - maxLagMs, now());
      if (account.size > 0) continue;
      // A peer that was just disconnected reconnects, and needs the past images to get only the changes that it missed.
      if ((idle.get(id) ?? 0) < maxIdleTicks) idle.set(id, (idle.get(id) ?? 0) + 1);
      else accounts.delete(id);
    }
    followAll();
  }, tickMs);
  timer.unref();
  let closed = false;

  return {
    join(joining) {
      const streams = accountOf(joining.account);
      const leave = join(streams, joining, { engine, listener, admission, roomMs: admissionTimeoutMs });
      // Another server may have received the facts with which the peer logged in.
      scheduler.schedule(joining.account);
      // A peer that is admitted after the server began to stop would keep the server running.
      if (closed) for (const stream of [...streams.streams()]) stream.end('stopping');
      return leave;
    },
    get size() {
      return [...accounts.values()].reduce((sum, account) => sum + account.size, 0);
    },
    close() {
      closed = true;
      clearInterval(timer);
      for (const stop of unlisten) stop();
      scheduler.close();
      for (const account of accounts.values()) for (const stream of [...account.streams()]) stream.end('stopping');
    },
  };
}

/** Adds a listener. Returns a function that removes it. */
function addListener<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Number of ticks after which the images of an account without streams are dropped. */
const maxIdleTicks = 20;

function join(
  streams: AccountStreams,
  { account, peer, revision, lastEventId, location, sink }: JoiningPeer,
  {
    engine,
    listener,
    admission,
    roomMs,
  }: Pick<HubOptions, 'engine' | 'listener'> & { readonly admission: Admission; readonly roomMs: number },
): () => void {
  let holding = false;
  let waiting: NodeJS.Timeout | undefined;
  const release = (): void => {
    clearTimeout(waiting);
    if (holding) admission.release();
    holding = false;
  };
  const stream = new Stream({
    ...{ peer, last: lastEventId, sink, id: engine.newId() },
    caughtUp: () => {
      release();
      if (stream.stale) streams.sendMap(stream);
    },
    ended: () => {
      release();
      streams.remove(stream);
      listener.gone(account, peer, stream.id);
    },
  });
  streams.add(stream);
  listener.connected(account, peer, stream.id, location);
  const begin = (): boolean => {
    streams.sendMap(stream);
    holding = stream.isOpen && stream.isLagging;
    // Readers that do not read must not block the admission of other readers. They are disconnected later, by `tick`.
    if (holding) waiting = setTimeout(release, roomMs).unref();
    return !holding;
  };
  // `waitForRevision` does not throw: errors are reported. Older images may not contain the peer, which must not be
  // taken for its deletion.
  void streams.waitForRevision(revision).then((isReady) => (isReady ? admission.admit(begin) : stream.end('failed')));
  return () => stream.handleClosed();
}
