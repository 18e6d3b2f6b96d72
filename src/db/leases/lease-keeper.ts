import type { Worker } from 'node:worker_threads';
import { startProgramThread } from '../../executable.ts';
import type { DatabaseOptions } from '../database.ts';
import type { Lease } from './leases.ts';

/** Message to the thread. */
export type LeaseWorkerMessage =
  | { readonly what: 'hold'; readonly lease: Lease; readonly seconds: number }
  | { readonly what: 'let go'; readonly lease: Lease }
  /** Heartbeat: the main thread is responsive. */
  | { readonly what: 'alive' }
  | { readonly what: 'close' };

/** Options with which the thread is started. */
export type LeaseWorkerData = Required<Omit<LeaseKeeperOptions, 'onFailure'>>;

/** Message that the thread posts when it can renew leases. */
export const ready = 'ready';

/** Renews leases in a separate thread, however busy the main thread is. */
export interface LeaseKeeper {
  /**
   * Renews a lease, each time for `seconds` seconds, until it is released or lost. Does not throw. While the thread
   * does not run, only the renewals of the main thread count; the next thread renews all leases that are held.
   */
  hold(lease: Lease, seconds: number): void;
  release(lease: Lease): void;
  close(): Promise<void>;
}

/** Options of a lease keeper. It needs a Postgres, to which its thread opens a separate connection. */
export interface LeaseKeeperOptions {
  readonly database: DatabaseOptions;
  /** Time after which leases of a silent main thread are no longer renewed, in milliseconds. Default: one minute. */
  readonly maxSilenceMs?: number;
  /** Called when the thread cannot start or ends unexpectedly. Called only once until a thread renews leases again. */
  onFailure(error: unknown): void;
}

interface HeldLease {
  readonly lease: Lease;
  readonly seconds: number;
}

const heartbeatIntervalMs = 2000;

/** Creates a keeper. Its thread starts with the first lease, and starts again when it ended while leases are held. */
export function openLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { database, onFailure, maxSilenceMs = 60_000 } = options;
  const held = new Map<string, HeldLease>();
  let worker: Worker | undefined;
  let isReported = false;
  const post = (request: LeaseWorkerMessage): void => worker?.postMessage(request);
  const report = (error: unknown): void => {
    if (!isReported) onFailure(error);
    isReported = true;
  };
  const start = (): void => {
    try {
      const started = startWorker({ database, maxSilenceMs });
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
  }, heartbeatIntervalMs);
  beat.unref();
  return {
    hold(lease, seconds) {
      held.set(leaseKey(lease), { lease, seconds });
      if (worker === undefined) start();
      else post({ what: 'hold', lease, seconds });
    },
    release(lease) {
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

/** Returns the key that identifies a lease within a database. */
export function leaseKey({ account, name }: Lease): string {
  return `${account} ${name}`;
}
