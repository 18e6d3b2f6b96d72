import { hostname } from 'node:os';
import type { Engine } from '../../commit/engine.ts';
import type { LeaseKeeper } from '../../db/leases/lease-keeper.ts';
import { type Lease, releaseLease, renewLease, takeLease } from '../../db/leases/leases.ts';

/** A job in an account, done by one server at a time. */
export interface Job {
  readonly account: string;
  /** Name of the lease of the job, unique within the account. */
  readonly lease: string;
}

/** A job that this server is doing. */
export interface RunningJob {
  readonly account: string;
  readonly lease: Lease;
  /** Aborted when the server stops, or the lease is lost. */
  readonly signal: AbortSignal;
}

/** Options of doing jobs. */
export interface JobRunnerOptions {
  readonly engine: Pick<Engine, 'database'>;
  /** Name of this server in leases, for people who inspect them. */
  readonly owner: string;
  /** Lifetime of a lease, in seconds. When this server is gone, another server continues after this time. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy. Absent: they are not renewed then. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'release'> | undefined;
  /**
   * Maximum number of jobs at once, in total and per account. Counterparts that never answer hold up only jobs of their
   * account.
   */
  readonly atOnce: { readonly inAll: number; readonly ofAccount: number };
  failed(job: Job, error: unknown): void;
  /** Called when a job is done. More jobs may be due. */
  ended(): void;
}

/** Jobs that this server runs. */
export interface JobRunner {
  /**
   * Starts a job. Returns `undefined` when this server runs the job already, runs too many jobs, or stops. The promise
   * resolves when the job is done and the lease is released, whatever the result. It also resolves, without a call of
   * `work`, when another server holds the lease.
   */
  start(job: Job, work: (hold: RunningJob) => Promise<void>): Promise<void> | undefined;
  /** Stops the running jobs and waits for them. */
  stop(): Promise<void>;
}

/** Returns a name for this server, made unique by an id. */
export function ownerName({ newId }: Pick<Engine, 'newId'>): string {
  return `${hostname()} ${process.pid} ${newId()}`;
}

/** Creates a runner that does several jobs at once, each under its lease. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
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
  { engine, owner, leaseSeconds: seconds, leases }: JobRunnerOptions,
  { account, lease: name }: Job,
  stopping: AbortSignal,
  work: (hold: RunningJob) => Promise<void>,
): Promise<void> {
  const lease = await takeLease(engine.database, { account, name, owner, seconds });
  if (lease === undefined) return;
  leases?.hold(lease, seconds);
  const lost = new AbortController();
  const timer = setInterval(() => {
    // An error means that the database is unavailable, which does not mean that the lease is lost.
    renewLease(engine.database, lease, seconds).then(
      (isKept) => (isKept ? undefined : lost.abort()),
      () => undefined,
    );
  }, seconds * 333).unref();
  try {
    await work({ account, lease, signal: AbortSignal.any([stopping, lost.signal]) });
  } finally {
    clearInterval(timer);
    leases?.release(lease);
    // A lease that cannot be released expires by itself.
    await releaseLease(engine.database, lease).catch(() => undefined);
  }
}
