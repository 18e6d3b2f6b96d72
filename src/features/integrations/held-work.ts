import { hostname } from 'node:os';
import type { Engine } from '../../commit/engine.ts';
import type { LeaseKeeper } from '../../db/leases/lease-keeper.ts';
import { type Lease, releaseLease, renewLease, takeLease } from '../../db/leases/leases.ts';

/** Something to do in an account, one server at a time. */
export interface Job {
  readonly account: string;
  /** The name of the lease under which it is done, unique within the account. */
  readonly lease: string;
}

/** A job that this server does. */
export interface Hold {
  readonly account: string;
  readonly lease: Lease;
  /** Aborted when the server stops, or the lease is lost. */
  readonly signal: AbortSignal;
}

/** How jobs are done. */
export interface HeldWorkOptions {
  readonly engine: Pick<Engine, 'database'>;
  /** Names this server; for people who look at leases. */
  readonly owner: string;
  /** When this server is gone, another one goes on after so long. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
  /** How many jobs are done at once, and how many of one account: counterparts that never answer hold up others of it. */
  readonly atOnce: { readonly inAll: number; readonly ofAccount: number };
  failed(job: Job, error: unknown): void;
  /** A job is done; there may be more to do. */
  ended(): void;
}

/** Jobs under way. */
export interface HeldWork {
  /**
   * Does a job, unless it is under way, another server is at it, or there are too many. The promise resolves once it is done
   * and the lease is given back, whatever came of it; there is none when the job was not begun.
   */
  start(job: Job, work: (hold: Hold) => Promise<void>): Promise<void> | undefined;
  /** Ends it; waits for what is under way. */
  stop(): Promise<void>;
}

/** A name for this server, made unique by an id. */
export function ownerName({ newId }: Pick<Engine, 'newId'>): string {
  return `${hostname()} ${process.pid} ${newId()}`;
}

/** Does several jobs at once, each under its lease. */
export function createHeldWork(options: HeldWorkOptions): HeldWork {
  const { atOnce, failed, ended } = options;
  const running = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  return {
    start(job, work) {
      const name = `${job.account} ${job.lease}`;
      const ofAccount = [...running.keys()].filter((one) => one.startsWith(`${job.account} `)).length;
      const isFull = running.size >= atOnce.inAll || ofAccount >= atOnce.ofAccount;
      if (stopping.signal.aborted || isFull || running.has(name)) return undefined;
      const done = underLease(options, job, stopping.signal, work)
        .catch((error: unknown) => failed(job, error))
        .finally(() => {
          running.delete(name);
          ended();
        });
      running.set(name, done);
      return done;
    },
    async stop() {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

async function underLease(
  { engine, owner, leaseSeconds: seconds, leases }: HeldWorkOptions,
  { account, lease: name }: Job,
  stopping: AbortSignal,
  work: (hold: Hold) => Promise<void>,
): Promise<void> {
  const lease = await takeLease(engine.database, { account, name, owner, seconds });
  if (lease === undefined) return;
  leases?.hold(lease, seconds);
  const lost = new AbortController();
  const timer = setInterval(() => {
    // A database that is away says nothing about the lease.
    renewLease(engine.database, lease, seconds).then(
      (isKept) => (isKept ? undefined : lost.abort()),
      () => undefined,
    );
  }, seconds * 333).unref();
  try {
    await work({ account, lease, signal: AbortSignal.any([stopping, lost.signal]) });
  } finally {
    clearInterval(timer);
    leases?.letGo(lease);
    // One that cannot be given back ends by itself.
    await releaseLease(engine.database, lease).catch(() => undefined);
  }
}
