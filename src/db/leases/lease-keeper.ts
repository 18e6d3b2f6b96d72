import type { Worker } from 'node:worker_threads';
import { startProgramThread } from '../../executable.ts';
import type { DatabaseOptions } from '../database.ts';
import type { Lease } from './leases.ts';

/** What the thread is asked. */
export type LeaseRequest =
  | { readonly what: 'hold'; readonly lease: Lease; readonly seconds: number }
  | { readonly what: 'let go'; readonly lease: Lease }
  /** The main thread is not stuck. */
  | { readonly what: 'alive' }
  | { readonly what: 'close' };

/** What the thread is started with. */
export type LeaseWorkerData = Required<Omit<LeaseKeeperOptions, 'failed'>>;

/** What the thread says once it can renew leases. */
export const ready = 'ready';

/** Renews leases whatever the main thread is busy with. */
export interface LeaseKeeper {
  /**
   * Renews a lease, each time for so many seconds, until it is let go or lost. Does not throw: while the thread does not
   * run, leases last as long as the main thread renews them, and the next thread renews all that are held.
   */
  hold(lease: Lease, seconds: number): void;
  letGo(lease: Lease): void;
  close(): Promise<void>;
}

/** What a keeper needs: a Postgres, which it reaches over a connection of its own. */
export interface LeaseKeeperOptions {
  readonly database: DatabaseOptions;
  /** After how long a main thread that says nothing has no lease renewed any more, in milliseconds; a minute by default. */
  readonly longestSilenceMs?: number;
  /** Called when the thread cannot start or ends by itself, once until one renews leases again. */
  failed(error: unknown): void;
}

interface Held {
  readonly lease: Lease;
  readonly seconds: number;
}

const aliveMs = 2000;

/** Creates a keeper, whose thread starts with the first lease, and again when it ended while leases are held. */
export function openLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { database, failed, longestSilenceMs = 60_000 } = options;
  const held = new Map<string, Held>();
  let worker: Worker | undefined;
  let isReported = false;
  const post = (request: LeaseRequest): void => worker?.postMessage(request);
  const report = (error: unknown): void => {
    if (!isReported) failed(error);
    isReported = true;
  };
  const start = (): void => {
    try {
      const started = startWorker({ database, longestSilenceMs });
      worker = started;
      const leave = (): void => {
        if (worker === started) worker = undefined;
      };
      started.on('exit', leave).on('error', (error) => {
        leave();
        report(error);
      });
      started.once('message', (message) => {
        if (message === ready) isReported = false;
      });
      for (const item of held.values()) post({ what: 'hold', ...item });
    } catch (error) {
      report(error);
    }
  };
  const beat = setInterval(() => {
    if (worker === undefined && held.size > 0) start();
    else post({ what: 'alive' });
  }, aliveMs);
  beat.unref();
  return {
    hold(lease, seconds) {
      held.set(leaseKey(lease), { lease, seconds });
      if (worker === undefined) start();
      else post({ what: 'hold', lease, seconds });
    },
    letGo(lease) {
      held.delete(leaseKey(lease));
      post({ what: 'let go', lease });
    },
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

function startWorker(data: LeaseWorkerData): Worker {
  const worker = startProgramThread('./lease-worker', import.meta.url, { workerData: data });
  worker.unref();
  return worker;
}

/** Identifies a lease among those of a database. */
export function leaseKey({ account, name }: Lease): string {
  return `${account} ${name}`;
}
