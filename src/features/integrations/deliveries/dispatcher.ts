import { hostname } from 'node:os';
import { type Report, reportOnce } from '../../../commit/report-once.ts';
import { adoptChannels, findPending, type PendingDelivery } from '../../../db/deliveries/pending.ts';
import type { LeaseKeeper } from '../../../db/leases/lease-keeper.ts';
import { releaseLease, takeLease } from '../../../db/leases/leases.ts';
import { keepLooking } from './looks.ts';
import { type WorkerOptions, workOn } from './worker.ts';

/** How a server delivers. */
export interface DispatcherOptions extends WorkerOptions {
  /** When this server is gone, another one goes on after so long. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
  /** How often to look for what no notice says: events that make no revision, and servers that are gone. */
  readonly pollMs?: number;
  /** How long commits are collected before it looks. */
  readonly gatherMs?: number;
  readonly report: Report<'warn' | 'error'>;
}

const usualPollMs = 5000;
const usualGatherMs = 200;

/** How many channels a server delivers to at once, and how many of one account: receivers that never answer hold up others of it. */
const mostAtOnce = 64;
const mostOfAccount = 8;

/** How many channels that wait are looked at together, and how many of one account. */
const mostFound = { inAll: 1000, ofAccount: 100 };

/**
 * Delivers what waits for channels of all accounts. Any number of servers may: each channel is delivered to by the one that
 * has its lease, which is held while there is something to do and no longer. Returns a function that stops it, and waits for
 * what is under way.
 */
export function runDeliveries(options: DispatcherOptions): () => Promise<void> {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs } = options;
  const report = reportOnce(options.report);
  const failed = (what: string) => (error: unknown) =>
    report('error', `${what}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  // For people who look at the lease; the end makes it unique.
  const owner = `${hostname()} ${process.pid} ${engine.newId()}`;
  const workers = createWorkers(options, owner, { failed, ended: () => looks.within(gatherMs) });
  let isAdopted = false;
  const dispatch = async (): Promise<void> => {
    // Servers of an earlier release may make channels until the last of them is replaced.
    if (!isAdopted) await adoptChannels(engine.database, deliveringKinds(options));
    isAdopted = true;
    const pending = await findPending(engine.database, owner, mostFound);
    engine.observer.report({ what: 'delivery_backlog', ...backlogOf(pending) });
    for (const delivery of pending) {
      if (delivery.dueInMs > 0) looks.within(Math.max(delivery.dueInMs, gatherMs));
      else workers.start(delivery);
    }
  };
  const looks = keepLooking(() => dispatch().catch(failed('deliveries')), { pollMs, gatherMs });
  const unlisten = [
    engine.notices.on(({ what }) =>
      what === 'revision' || what === 'deliveries' ? looks.within(gatherMs) : undefined,
    ),
    engine.notices.onMissed(() => looks.within(gatherMs)),
  ];
  return async () => {
    for (const stop of unlisten) stop();
    await Promise.all([looks.stop(), workers.stop()]);
  };
}

interface WorkerEvents {
  failed(what: string): (error: unknown) => void;
  /** A worker is done; there may be more to do. */
  ended(): void;
}

/** Works on several channels at once, on each under its lease. */
function createWorkers(options: DispatcherOptions, owner: string, { failed, ended }: WorkerEvents) {
  const { engine, leaseSeconds: seconds, leases } = options;
  const running = new Map<string, Promise<void>>();
  let stopped = false;
  const work = async ({ account, channel }: PendingDelivery): Promise<void> => {
    const lease = await takeLease(engine.database, { account, name: `delivery/${channel}`, owner, seconds });
    if (lease === undefined) return;
    leases?.hold(lease, seconds);
    try {
      await workOn(options, { account, channel, lease, leaseSeconds: seconds, isStopping: () => stopped });
    } finally {
      leases?.letGo(lease);
      // One that cannot be given back ends by itself.
      await releaseLease(engine.database, lease).catch(() => undefined);
    }
  };
  return {
    start(delivery: PendingDelivery): void {
      const name = `${delivery.account} ${delivery.channel}`;
      const ofAccount = [...running.keys()].filter((one) => one.startsWith(`${delivery.account} `)).length;
      const isFull = running.size >= mostAtOnce || ofAccount >= mostOfAccount;
      if (stopped || isFull || running.has(name)) return;
      const done = work(delivery)
        .catch(failed(`deliveries to ${delivery.channel}`))
        .finally(() => {
          running.delete(name);
          ended();
        });
      running.set(name, done);
    },
    async stop(): Promise<void> {
      stopped = true;
      await Promise.all(running.values());
    },
  };
}

function deliveringKinds({ engine }: Pick<DispatcherOptions, 'engine'>): readonly string[] {
  return engine.registry.kinds.filter(({ delivers }) => delivers === true).map(({ name }) => name);
}

function backlogOf(pending: readonly PendingDelivery[]): { readonly failing: number; readonly behind: number } {
  return {
    failing: pending.filter(({ failing }) => failing).length,
    behind: pending.reduce((most, { behind }) => Math.max(most, behind), 0),
  };
}
