import { hostname } from 'node:os';
import type { Report } from '../../../commit/report-once.ts';
import { reportOnce } from '../../../commit/report-once.ts';
import { adoptChannels, findPending, type PendingDelivery } from '../../../db/deliveries/pending.ts';
import type { LeaseKeeper } from '../../../db/leases/lease-keeper.ts';
import { releaseLease, takeLease } from '../../../db/leases/leases.ts';
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

/** How many channels a server delivers to at once. */
const mostAtOnce = 16;

/** How many channels that wait are looked at together. */
const mostFound = 1000;

/**
 * Delivers what waits for channels of all accounts. Any number of servers may: each channel is delivered to by the one that
 * has its lease, which is held while there is something to do and no longer. Returns a function that stops it, and waits for
 * what is under way.
 */
export function runDeliveries(options: DispatcherOptions): () => Promise<void> {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs } = options;
  const report = reportOnce(options.report);
  // For people who look at the lease; the end makes it unique.
  const owner = `${hostname()} ${process.pid} ${engine.newId()}`;
  const running = new Map<string, Promise<void>>();
  let stopped = false;
  let isAdopted = false;
  let looking: Promise<void> | undefined;
  let isWokenMeanwhile = false;
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;

  const lookIn = (ms: number): void => {
    const at = performance.now() + ms;
    if (stopped || (timer !== undefined && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    timer = { at, handle: setTimeout(look, ms) };
  };
  const look = (): void => {
    timer = undefined;
    isWokenMeanwhile = looking !== undefined;
    looking ??= dispatch()
      .catch((error: unknown) => report('error', `deliveries: ${reasonOf(error)}; it is tried again`))
      .finally(() => {
        looking = undefined;
        lookIn(isWokenMeanwhile ? gatherMs : pollMs);
        isWokenMeanwhile = false;
      });
  };
  const dispatch = async (): Promise<void> => {
    // Servers of an earlier release may make channels until the last of them is replaced.
    if (!isAdopted) await adoptChannels(engine.database, deliveringKinds(options));
    isAdopted = true;
    const pending = await findPending(engine.database, mostFound);
    engine.observer.report({ what: 'delivery_backlog', ...backlogOf(pending) });
    for (const delivery of pending) {
      if (delivery.dueInMs > 0) lookIn(Math.max(delivery.dueInMs, gatherMs));
      else start(delivery);
    }
  };
  const start = (delivery: PendingDelivery): void => {
    const name = `${delivery.account} ${delivery.channel}`;
    if (stopped || running.has(name) || running.size >= mostAtOnce) return;
    const ended = deliver(delivery)
      .catch((error: unknown) => report('error', `deliveries to ${delivery.channel}: ${reasonOf(error)}; it is tried again`))
      .finally(() => {
        running.delete(name);
        lookIn(gatherMs);
      });
    running.set(name, ended);
  };
  const deliver = async ({ account, channel }: PendingDelivery): Promise<void> => {
    const { leaseSeconds: seconds, leases } = options;
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
  const unlisten = [
    engine.notices.on(({ what }) => (what === 'revision' || what === 'deliveries' ? lookIn(gatherMs) : undefined)),
    engine.notices.onMissed(() => lookIn(gatherMs)),
  ];
  lookIn(0);

  return async () => {
    stopped = true;
    for (const stop of unlisten) stop();
    clearTimeout(timer?.handle);
    await looking;
    await Promise.all(running.values());
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

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
