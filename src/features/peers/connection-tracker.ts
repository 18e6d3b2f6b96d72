import type { Engine } from '../../commit/engine.ts';
import type { LeaseKeeper } from '../../db/leases/lease-keeper.ts';
import { type Lease, releaseLease, renewLease, takeLease } from '../../db/leases/leases.ts';
import type { PeerStatusUpdate } from '../../db/peers/peer-status.ts';
import type { JsonObject } from '../../lib/json.ts';

/** Records in the database which peers are connected to this server. */
export interface ConnectionTracker {
  connected(account: string, peer: string, stream: string, location?: JsonObject): void;
  gone(account: string, peer: string, stream: string): void;
  /** Resolves when all changes are stored. */
  settle(): Promise<void>;
  /** Stores the remaining changes and releases the leases. */
  close(): Promise<void>;
}

/** Options of a connection tracker. */
export interface ConnectionTrackerOptions {
  readonly engine: Engine;
  /** Id of this process, which no other process ever has. */
  readonly server: string;
  failed(error: unknown): void;
  /**
   * Renews leases in another thread, even while this thread is busy. Absent: this thread renews them, because an
   * embedded database has only one server.
   */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'release'> | undefined;
  /** Time after which other servers consider the peers of a silent server disconnected, in seconds. */
  readonly leaseSeconds?: number;
  /** Wait before a failed write is tried again, in milliseconds. */
  readonly retryMs?: number;
}

/** Peers of one account that are connected to this server, by their stream. */
interface AccountConnections {
  readonly streams: Map<string, string>;
  lease: Promise<Lease | undefined>;
}

type ConnectedPeer = Pick<PeerStatusUpdate, 'peer' | 'location'>;

/**
 * Creates a connection tracker. A server holds a lease for each account while peers of the account are connected to it.
 * Other servers consider the peers of a server without a lease disconnected. A failed write is tried again until it is
 * stored or no longer true.
 */
export function createConnectionTracker(options: ConnectionTrackerOptions): ConnectionTracker {
  const { engine, server, failed, leases, leaseSeconds = 60, retryMs = 1000 } = options;
  const rooms = new Map<string, AccountConnections>();
  const writing = new Set<Promise<void>>();
  let closed = false;

  const held = createServerLeases({ engine, server, seconds: leaseSeconds, keeper: leases });
  const write = async (account: string, update: PeerStatusUpdate, isTrue: () => boolean): Promise<void> => {
    while (isTrue()) {
      try {
        if (update.connected === true) await rooms.get(account)?.lease;
        // If the peer disconnected while the lease was taken, `gone` stores that.
        if (isTrue()) await engine.presence.record(account, update);
        return;
      } catch (error) {
        failed(error);
        if (closed) return;
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
      }
    }
  };
  const start = (work: Promise<void>): void => {
    writing.add(work);
    void work.finally(() => writing.delete(work));
  };
  const enter = (account: string, room: AccountConnections, update: ConnectedPeer, stream: string): void =>
    start(write(account, { ...update, stream, server, connected: true }, () => room.streams.has(stream)));

  const renew = async (account: string, room: AccountConnections): Promise<void> => {
    const lease = await room.lease.catch(() => undefined);
    if (lease !== undefined && (await held.renew(lease))) return;
    // Other servers may have considered all peers of this server disconnected.
    room.lease = held.take(account);
    await room.lease;
    for (const [stream, peer] of room.streams) enter(account, room, { peer }, stream);
  };
  const timer = setInterval(() => {
    for (const [account, room] of rooms) {
      if (room.streams.size > 0) start(renew(account, room).catch(failed));
      else start(dropEmptyAccount(rooms, account, held));
    }
  }, leaseSeconds * 333);
  timer.unref();

  const settle = async (): Promise<void> => {
    while (writing.size > 0) await Promise.allSettled(writing);
  };
  return {
    settle,
    connected(account, peer, stream, location) {
      const room = rooms.get(account) ?? { streams: new Map(), lease: held.take(account) };
      // The callers that await the lease handle its failure.
      room.lease.catch(() => undefined);
      rooms.set(account, room);
      room.streams.set(stream, peer);
      enter(account, room, { peer, ...(location === undefined ? {} : { location }) }, stream);
    },
    gone(account, peer, stream) {
      rooms.get(account)?.streams.delete(stream);
      start(write(account, { peer, stream, connected: false }, () => true));
    },
    async close() {
      clearInterval(timer);
      closed = true;
      await settle();
      for (const [account, room] of rooms) {
        const lease = await room.lease.catch(() => undefined);
        if (lease !== undefined) await held.release(lease);
        rooms.delete(account);
      }
    },
  };
}

/** Drops a room without peers and stops renewing its lease, unless a peer has joined the account in the meantime. */
async function dropEmptyAccount(
  rooms: Map<string, AccountConnections>,
  account: string,
  held: ServerLeases,
): Promise<void> {
  const room = rooms.get(account);
  rooms.delete(account);
  const lease = await room?.lease.catch(() => undefined);
  if (lease !== undefined && !rooms.has(account)) held.stopRenewing(lease);
}

/** Leases, one for each account, by which other servers see that the peers of this server are connected. */
export interface ServerLeases {
  take(account: string): Promise<Lease | undefined>;
  /** Returns whether the lease was still held. */
  renew(lease: Lease): Promise<boolean>;
  /** Stops renewing the lease, so that it expires. */
  stopRenewing(lease: Lease): void;
  /** Releases the lease at once. If that fails, the lease expires. */
  release(lease: Lease): Promise<void>;
}

/**
 * Options of the server leases: the server that holds them, their duration in seconds, and the keeper that renews them
 * in another thread.
 */
export interface ServerLeaseOptions {
  readonly engine: Engine;
  readonly server: string;
  readonly seconds: number;
  readonly keeper: Pick<LeaseKeeper, 'hold' | 'release'> | undefined;
}

/** Creates the server leases. No lease is held at first. */
function createServerLeases({ engine, server, seconds, keeper }: ServerLeaseOptions): ServerLeases {
  return {
    async take(account) {
      const lease = await takeLease(engine.database, { account, name: `peers/${server}`, owner: server, seconds });
      if (lease !== undefined) keeper?.hold(lease, seconds);
      return lease;
    },
    renew: (lease) => renewLease(engine.database, lease, seconds),
    stopRenewing: (lease) => keeper?.release(lease),
    async release(lease) {
      keeper?.release(lease);
      await releaseLease(engine.database, lease).catch(() => undefined);
    },
  };
}
