import type { Engine } from '../../commit/engine.ts';
import type { LeaseKeeper } from '../../db/leases/lease-keeper.ts';
import { type Lease, releaseLease, renewLease, takeLease } from '../../db/leases/leases.ts';
import type { StatusUpdate } from '../../db/peers/peer-status.ts';
import type { JsonObject } from '../../lib/json.ts';

/** Stores which peers are connected to this server. */
export interface ConnectionTracker {
  connected(account: string, peer: string, stream: string, place?: JsonObject): void;
  gone(account: string, peer: string, stream: string): void;
  /** Resolves when every change is stored. */
  settle(): Promise<void>;
  /** Stores what is left and gives the leases back. */
  close(): Promise<void>;
}

/** What a connection tracker takes. */
export interface ConnectionTrackerOptions {
  readonly engine: Engine;
  /** Names this process; another one never has the same. */
  readonly server: string;
  failed(error: unknown): void;
  /** Renews leases whatever this thread is busy with; absent: this thread renews them, an embedded database has one server. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
  /** How long others wait before they take the peers of a server that is silent for gone. */
  readonly leaseSeconds?: number;
  /** How long to wait before a write that failed is tried again. */
  readonly againMs?: number;
}

/** The peers of one account that are connected here, by their stream. */
interface Room {
  readonly streams: Map<string, string>;
  lease: Promise<Lease | undefined>;
}

/**
 * Creates a connection tracker. While a server has peers of an account it holds a lease: peers of a server without one are
 * gone, as the others see it. A write that fails is tried again until it is stored or no longer true.
 */
export function createConnectionTracker(options: ConnectionTrackerOptions): ConnectionTracker {
  const { engine, server, failed, leases, leaseSeconds = 60, againMs = 1000 } = options;
  const rooms = new Map<string, Room>();
  const writing = new Set<Promise<void>>();
  let closed = false;

  const held = createServerLeases({ engine, server, seconds: leaseSeconds, keeper: leases });
  const write = async (account: string, update: StatusUpdate, isTrue: () => boolean): Promise<void> => {
    while (isTrue()) {
      try {
        if (update.connected === true) await rooms.get(account)?.lease;
        // A peer that left while the lease was taken is stored as gone already.
        if (isTrue()) await engine.presence.note(account, update);
        return;
      } catch (error) {
        failed(error);
        if (closed) return;
        await new Promise((resolve) => setTimeout(resolve, againMs).unref());
      }
    }
  };
  const start = (work: Promise<void>): void => {
    writing.add(work);
    void work.finally(() => writing.delete(work));
  };
  const enter = (account: string, room: Room, update: Pick<StatusUpdate, 'peer' | 'place'>, stream: string): void =>
    start(write(account, { ...update, stream, server, connected: true }, () => room.streams.has(stream)));

  const renew = async (account: string, room: Room): Promise<void> => {
    const lease = await room.lease.catch(() => undefined);
    if (lease !== undefined && (await held.renew(lease))) return;
    // Others may have taken everybody here for gone.
    room.lease = held.take(account);
    await room.lease;
    for (const [stream, peer] of room.streams) enter(account, room, { peer }, stream);
  };
  const timer = setInterval(() => {
    for (const [account, room] of rooms) {
      if (room.streams.size > 0) start(renew(account, room).catch(failed));
      else start(leave(rooms, account, held));
    }
  }, leaseSeconds * 333);
  timer.unref();

  const settle = async (): Promise<void> => {
    while (writing.size > 0) await Promise.allSettled(writing);
  };
  return {
    settle,
    connected(account, peer, stream, place) {
      const room = rooms.get(account) ?? { streams: new Map(), lease: held.take(account) };
      // Those who wait for the lease handle its failure.
      room.lease.catch(() => undefined);
      rooms.set(account, room);
      room.streams.set(stream, peer);
      enter(account, room, { peer, ...(place === undefined ? {} : { place }) }, stream);
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
        if (lease !== undefined) await held.giveBack(lease);
        rooms.delete(account);
      }
    },
  };
}

/** A room without peers: its lease runs out, unless a peer joins before it is released. */
async function leave(rooms: Map<string, Room>, account: string, held: ServerLeases): Promise<void> {
  const room = rooms.get(account);
  rooms.delete(account);
  const lease = await room?.lease.catch(() => undefined);
  if (lease !== undefined && !rooms.has(account)) held.letGo(lease);
}

/** The leases, one an account, by which others see that the peers of a server are connected. */
export interface ServerLeases {
  take(account: string): Promise<Lease | undefined>;
  /** Answers whether it was still held. */
  renew(lease: Lease): Promise<boolean>;
  /** It is needed no longer, and runs out. */
  letGo(lease: Lease): void;
  /** It ends now; one that cannot be given back ends by itself. */
  giveBack(lease: Lease): Promise<void>;
}

/** Whose leases, for how long, and who renews them whatever this thread is busy with. */
export interface ServerLeaseOptions {
  readonly engine: Engine;
  readonly server: string;
  readonly seconds: number;
  readonly keeper: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
}

/** Creates them; none is held yet. */
function createServerLeases({ engine, server, seconds, keeper }: ServerLeaseOptions): ServerLeases {
  return {
    async take(account) {
      const lease = await takeLease(engine.database, { account, name: `peers/${server}`, owner: server, seconds });
      if (lease !== undefined) keeper?.hold(lease, seconds);
      return lease;
    },
    renew: (lease) => renewLease(engine.database, lease, seconds),
    letGo: (lease) => keeper?.letGo(lease),
    async giveBack(lease) {
      keeper?.letGo(lease);
      await releaseLease(engine.database, lease).catch(() => undefined);
    },
  };
}
