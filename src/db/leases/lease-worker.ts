import { enableCompileCache } from 'node:module';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Database } from '../database.ts';
import { type LeaseWorkerData, type LeaseWorkerMessage, leaseKey, ready } from './lease-keeper.ts';
import type { Lease } from './leases.ts';

enableCompileCache();
const { openDatabase } = await import('../database.ts');
const { renewLease } = await import('./leases.ts');

const checkIntervalMs = 250;

interface HeldLease {
  readonly lease: Lease;
  readonly seconds: number;
  nextAt: number;
}

// `openLeaseKeeper` starts this thread with these options.
const { maxSilenceMs, database: options } = workerData as LeaseWorkerData;
const database = await openDatabase({ ...options, poolSize: 1 });
if (parentPort !== null) keepLeases(database, parentPort);

/** Renews the leases that the main thread sends, until the main thread sends `close`. */
function keepLeases(database: Database, port: MessagePort): void {
  const held = new Map<string, HeldLease>();
  let heardAt = performance.now();
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A main thread that has been silent for so long does nothing that needs a lease.
    if (renewing !== undefined || performance.now() - heardAt > maxSilenceMs) return;
    renewing = renewDue(database, held).finally(() => {
      renewing = undefined;
    });
  }, checkIntervalMs);
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await renewing;
    await database.close();
    port.close();
  };
  port.postMessage(ready);
  port.on('message', (request: LeaseWorkerMessage) => {
    heardAt = performance.now();
    if (request.what === 'close') void close();
    else if (request.what === 'let go') held.delete(leaseKey(request.lease));
    else if (request.what === 'hold') {
      const { lease, seconds } = request;
      held.set(leaseKey(lease), { lease, seconds, nextAt: heardAt + intervalOf(seconds) });
    }
  });
}

async function renewDue(database: Database, held: Map<string, HeldLease>): Promise<void> {
  for (const [name, item] of held) {
    if (item.nextAt > performance.now()) continue;
    // An unreachable database proves nothing about the lease. The next check tries again.
    const isKept = await renewLease(database, item.lease, item.seconds).catch(() => undefined);
    if (isKept === true) item.nextAt = performance.now() + intervalOf(item.seconds);
    // The main thread detects the loss itself, and reports it.
    else if (isKept === false && held.get(name) === item) held.delete(name);
  }
}

/**
 * Returns the interval of renewals, in milliseconds. It is shorter than the main thread's, so that the main thread
 * finds its leases renewed.
 */
function intervalOf(seconds: number): number {
  return (seconds * 1000) / 4;
}
