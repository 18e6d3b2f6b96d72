import type { Engine } from '../../../commit/engine.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { AccountStreams } from './account-streams.ts';
import { type Admission, createAdmission } from './admission.ts';
import { createFactsDebouncer } from './facts-debouncer.ts';
import type { Sink } from './sink.ts';
import { Stream } from './stream.ts';
import { createSharedBytes } from './update.ts';

/** Called when peers connect and disconnect. */
export interface ConnectionListener {
  connected(account: string, peer: string, stream: string, place?: JsonObject): void;
  gone(account: string, peer: string, stream: string): void;
}

/** What the streams of a server need. */
export interface HubOptions {
  readonly engine: Engine;
  readonly listener: ConnectionListener;
  /** Milliseconds since 1970. */
  now(): number;
  failed(error: unknown): void;
  /** How many first events may be on their way at once. */
  readonly room?: number;
  /** How often silent streams show that they are alive, and everything acknowledged is looked for. */
  readonly tickMs?: number;
  /** How long a reader may lag behind. */
  readonly patienceMs?: number;
  /** How long a slow reader keeps its room from others who come. */
  readonly roomMs?: number;
  /** How long facts that machines reported are collected before they are processed together. */
  readonly factsMs?: number;
}

/** A peer that connects. */
export interface Joining {
  readonly account: string;
  readonly peer: string;
  /** The revision at which it was let in. */
  readonly revision: number;
  /** The id of the last event that it saw. */
  readonly last: string | undefined;
  /** Where it is now. */
  readonly place?: JsonObject;
  readonly sink: Sink;
}

/** The connected peers of this server. */
export interface Hub {
  /**
   * Admits a peer: it is sent its map when its turn comes, and from then on what changes. Returns a function for when
   * it is gone.
   */
  join(joining: Joining): () => void;
  /** How many peers are connected. */
  readonly size: number;
  /** Sends all streams that the server stops, and ends them. */
  close(): void;
}

/** Creates the registry of connected peers; it learns of revisions by the notices of all servers. */
export function createHub(options: HubOptions): Hub {
  const { engine, listener, now, failed, room = 64 } = options;
  const { tickMs = 15_000, patienceMs = 60_000, roomMs = 2000, factsMs = 500 } = options;
  const accounts = new Map<string, AccountStreams>();
  const idle = new Map<string, number>();
  const bytes = createSharedBytes();
  const admission = createAdmission(room);

  const accountOf = (account: string): AccountStreams => {
    const known = accounts.get(account) ?? new AccountStreams({ engine, account, bytes, now, failed });
    accounts.set(account, known);
    idle.delete(account);
    return known;
  };
  const debouncer = createFactsDebouncer(factsMs, (account) => {
    const streams = accounts.get(account);
    if (streams === undefined || streams.size === 0) return false;
    void streams.follow();
    return true;
  });
  const unlisten = [
    engine.notices.on((notice) => {
      // An account that is gone ends the streams of its peers.
      if (notice.what === 'gone') void accounts.get(notice.account)?.follow();
      if (notice.what === 'verdicts') debouncer.changed(notice.account);
      if (notice.what === 'revision') void accounts.get(notice.account)?.follow(notice.revision);
    }),
    hear(engine.preparers, (base, next) => accounts.get(next.account)?.prepare(base, next)),
    engine.notices.onMissed(() => followAll()),
    hear(engine.presence.listeners, (account) => void accounts.get(account)?.follow()),
    hear(engine.presence.written, (account) => debouncer.changed(account)),
  ];
  const followAll = (): void => {
    for (const account of accounts.values()) if (account.size > 0) void account.follow();
  };
  const timer = setInterval(() => {
    for (const [id, account] of accounts) {
      for (const stream of account.streams()) stream.tick(now() - patienceMs, now());
      if (account.size > 0) continue;
      // Who was cut off a moment ago comes back for what it missed.
      if ((idle.get(id) ?? 0) < forgetAfter) idle.set(id, (idle.get(id) ?? 0) + 1);
      else accounts.delete(id);
    }
    followAll();
  }, tickMs);
  timer.unref();
  let closed = false;

  return {
    join(joining) {
      const streams = accountOf(joining.account);
      const leave = join(streams, joining, { engine, listener, admission, roomMs });
      debouncer.watched(joining.account);
      // Who was on the way in when the server began to stop would keep it from doing so.
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
      debouncer.close();
      for (const account of accounts.values()) for (const stream of [...account.streams()]) stream.end('stopping');
    },
  };
}

/** Adds a listener; returns what takes it away. */
function hear<L>(listeners: Set<L>, listener: L): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** After how many ticks the images of an account without streams are forgotten. */
const forgetAfter = 20;

function join(
  streams: AccountStreams,
  { account, peer, revision, last, place, sink }: Joining,
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
    ...{ peer, last, sink, id: engine.newId() },
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
  listener.connected(account, peer, stream.id, place);
  const begin = (): boolean => {
    streams.sendMap(stream);
    holding = stream.isOpen && stream.isLagging;
    // Readers that do not read must not keep everybody else out; they are given up in their own time.
    if (holding) waiting = setTimeout(release, roomMs).unref();
    return !holding;
  };
  // Reading does not fail: errors are reported. Older images may not contain the peer, and must not be read as its
  // deletion.
  void streams.ready(revision).then((isReady) => (isReady ? admission.admit(begin) : stream.end('failed')));
  return () => stream.closed();
}
