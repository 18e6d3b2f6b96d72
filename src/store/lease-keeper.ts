import { Worker } from 'node:worker_threads';
import type { DatabaseOptions } from './database.ts';
import type { Lease } from './leases.ts';

/** What the thread is asked. */
export type LeaseRequest =
  | { readonly what: 'hold'; readonly lease: Lease; readonly seconds: number }
  | { readonly what: 'let go'; readonly lease: Lease }
  /** The main thread is not stuck. */
  | { readonly what: 'alive' }
  | { readonly what: 'close' };

/** Renews leases whatever the main thread is busy with. */
export interface LeaseKeeper {
  /** Renews a lease, each time for so many seconds, until it is let go or lost. */
  hold(lease: Lease, seconds: number): void;
  letGo(lease: Lease): void;
  close(): Promise<void>;
}

/** What a keeper needs: a Postgres, which it reaches over a connection of its own. */
export interface LeaseKeeperOptions {
  readonly database: DatabaseOptions;
  /** Told when the thread ends by itself; another one is started with the next lease. */
  failed(error: unknown): void;
}

const aliveMs = 2000;

/** Creates a keeper, whose thread starts with the first lease. */
export function openLeaseKeeper({ database, failed }: LeaseKeeperOptions): LeaseKeeper {
  let worker: Worker | undefined;
  const post = (request: LeaseRequest): void => worker?.postMessage(request);
  const beat = setInterval(() => post({ what: 'alive' }), aliveMs);
  beat.unref();
  const start = (): Worker => {
    const file = import.meta.url.endsWith('.ts') ? './lease-worker.ts' : './lease-worker.js';
    const started = new Worker(new URL(file, import.meta.url), { workerData: database });
    started.unref();
    started.on('error', failed).on('exit', () => {
      if (worker === started) worker = undefined;
    });
    return started;
  };
  return {
    hold(lease, seconds) {
      worker ??= start();
      post({ what: 'hold', lease, seconds });
    },
    letGo: (lease) => post({ what: 'let go', lease }),
    async close() {
      clearInterval(beat);
      const ended = worker;
      if (ended === undefined) return;
      ended.ref();
      const exit = new Promise((resolve) => ended.once('exit', resolve));
      post({ what: 'close' });
      await exit;
    },
  };
}
