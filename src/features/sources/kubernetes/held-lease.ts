import type { Engine } from '../../../commit/engine.ts';
import { type Lease, type LeaseRequest, releaseLease, renewLease, takeLease } from '../../../db/leases/leases.ts';
import type { SourceLeaseKeeper } from '../leases.ts';

/** Work that one of several servers does at a time. */
export interface LeasedWork<Work> {
  readonly engine: Engine;
  readonly request: LeaseRequest;
  /** Renews the lease while this thread is busy; absent: nothing does. */
  readonly leases?: SourceLeaseKeeper | undefined;
  /** Begins the work when this server got the lease. */
  begin(): Promise<Work>;
  /** Ends it, when the lease is lost or given back. */
  end(work: Work): Promise<void>;
  /** Beginning or renewing failed; it is tried again. */
  failed(error: unknown): void;
  /** The lease was lost. */
  lost(): void;
}

/** The work while this server has the lease. */
export interface HeldLease<Work> {
  current(): Work | undefined;
  /** Ends the work and gives the lease back. */
  stop(): Promise<void>;
}

/** An embedded database has leases that last for an hour, and what failed is tried again sooner. */
const mostPauseMs = 10_000;

/** Takes a lease whenever it is free, keeps it, and does the work meanwhile. */
export function holdLease<Work>(options: LeasedWork<Work>): HeldLease<Work> {
  const { engine, request, leases } = options;
  const lifetimeMs = request.seconds * 1000;
  let held: { readonly lease: Lease; readonly work: Work; renewedAt: number } | undefined;
  let changing: Promise<void> | undefined;
  let stopped = false;

  const begin = async (): Promise<void> => {
    const renewedAt = performance.now();
    const lease = await takeLease(engine.database, request);
    if (lease === undefined) return;
    try {
      held = { lease, work: await options.begin(), renewedAt };
      leases?.hold(lease, request.seconds);
    } catch (error) {
      await releaseLease(engine.database, lease);
      throw error;
    }
  };
  const end = async (): Promise<void> => {
    const former = held;
    held = undefined;
    if (former === undefined) return;
    leases?.letGo(former.lease);
    await options.end(former.work);
  };
  const keep = async (now: NonNullable<typeof held>): Promise<void> => {
    const begun = performance.now();
    // A database that is away says nothing; once its time is over the lease is not relied on.
    const isKept = await renewLease(engine.database, now.lease, request.seconds).catch(() => undefined);
    if (isKept === true) now.renewedAt = begun;
    if (isKept !== false && performance.now() - now.renewedAt < lifetimeMs) return;
    options.lost();
    await end();
  };
  const look = (): void => {
    if (stopped) return;
    changing ??= (held === undefined ? begin() : keep(held)).catch(options.failed).finally(() => {
      changing = undefined;
    });
  };
  const looking = setInterval(look, Math.min(lifetimeMs / 3, mostPauseMs));
  look();

  return {
    current: () => held?.work,
    async stop() {
      stopped = true;
      clearInterval(looking);
      await changing;
      const lease = held?.lease;
      await end();
      if (lease !== undefined) await releaseLease(engine.database, lease).catch(options.failed);
    },
  };
}
