import type { Engine } from '../../../commit/engine.ts';
import { type Lease, type LeaseRequest, releaseLease, renewLease, takeLease } from '../../../db/leases/leases.ts';
import type { SourceLeaseKeeper } from '../leases.ts';

/** Work that only one of several servers does at a time. */
export interface LeasedWork<Work> {
  readonly engine: Engine;
  readonly request: LeaseRequest;
  /** Renews the lease while this thread is busy. Absent: it is not renewed then. */
  readonly leases?: SourceLeaseKeeper | undefined;
  /** Starts the work after this server got the lease. */
  begin(): Promise<Work>;
  /** Ends the work when the lease is lost or given back. */
  end(work: Work): Promise<void>;
  /** Called when starting the work or renewing the lease failed. Both are tried again. */
  failed(error: unknown): void;
  /** Called when the lease was lost. */
  lost(): void;
}

/** Access to the work while this server has the lease. */
export interface HeldLease<Work> {
  current(): Work | undefined;
  /** Ends the work and gives the lease back. */
  stop(): Promise<void>;
}

/**
 * Maximum time between two attempts to take or renew the lease, in milliseconds. Leases of an embedded database last
 * for an hour, and failed attempts must be repeated sooner.
 */
const maxPauseMs = 10_000;

/** Takes the lease whenever it is free, renews it, and does the work while this server has it. */
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
    leases?.release(former.lease);
    await options.end(former.work);
  };
  const keep = async (now: NonNullable<typeof held>): Promise<void> => {
    const begun = performance.now();
    // When the database is unreachable, it is unknown whether the lease was renewed. After its lifetime, the lease is
    // not relied on.
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
  const looking = setInterval(look, Math.min(lifetimeMs / 3, maxPauseMs));
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
