import type { Engine } from '../../commit/engine.ts';
import type { LeaseKeeper } from '../../db/leases/lease-keeper.ts';
import { type Lease, releaseLease, renewLease, takeLease } from '../../db/leases/leases.ts';

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
export function createServerLeases({ engine, server, seconds, keeper }: ServerLeaseOptions): ServerLeases {
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
