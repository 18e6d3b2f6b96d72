import { enableCompileCache } from 'node:module';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Database } from '../database.ts';
import { type LeaseRequest, type LeaseWorkerData, leaseKey, ready } from './lease-keeper.ts';
import type { Lease } from './leases.ts';

enableCompileCache();
const { openDatabase } = await import('../database.ts');
const { renewLease } = await import('./leases.ts');

const lookMs = 250;

interface Held {
  readonly lease: Lease;
  readonly seconds: number;
  nextAt: number;
}

// The thread of `openLeaseKeeper`, which gave it these options.
const { longestSilenceMs, database: options } = workerData as LeaseWorkerData;
const database = await openDatabase({ ...options, poolSize: 1 });
if (parentPort !== null) keepLeases(database, parentPort);

/** Renews the leases that it is given, until it is closed. */
function keepLeases(database: Database, port: MessagePort): void {
  const held = new Map<string, Held>();
  let heardAt = performance.now();
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A main thread that is silent for so long does nothing any more for which it would need a lease.
    if (renewing !== undefined || performance.now() - heardAt > longestSilenceMs) return;
    renewing = renewDue(database, held).finally(() => {
      renewing = undefined;
    });
  }, lookMs);
  const close = async (): Promise<void> => {
    clearInterval(timer);
    await renewing;
    await database.close();
    port.close();
  };
  port.postMessage(ready);
  port.on('message', (request: LeaseRequest) => {
    heardAt = performance.now();
    if (request.what === 'close') void close();
    else if (request.what === 'let go') held.delete(leaseKey(request.lease));
    else if (request.what === 'hold') {
      const { lease, seconds } = request;
      held.set(leaseKey(lease), { lease, seconds, nextAt: heardAt + intervalOf(seconds) });
    }
  });
}

async function renewDue(database: Database, held: Map<string, Held>): Promise<void> {
  for (const [name, item] of held) {
    if (item.nextAt > performance.now()) continue;
    // A database that is away says nothing about the lease: it is tried again at the next look.
    const isKept = await renewLease(database, item.lease, item.seconds).catch(() => undefined);
    if (isKept === true) item.nextAt = performance.now() + intervalOf(item.seconds);
    // The main thread finds out by itself, and says so.
    else if (isKept === false && held.get(name) === item) held.delete(name);
  }
}

/** More often than the main thread does, so that it finds its leases renewed. */
function intervalOf(seconds: number): number {
  return (seconds * 1000) / 4;
}
