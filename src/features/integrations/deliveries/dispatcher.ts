import { type Report, reportOnce } from '../../../commit/report-once.ts';
import { adoptChannels, findPending, type PendingDelivery } from '../../../db/deliveries/pending.ts';
import { adoptFeeds } from '../../../db/deliveries/records.ts';
import type { LeaseKeeper } from '../../../db/leases/lease-keeper.ts';
import { createHeldWork, ownerName } from '../held-work.ts';
import { recordReceivers } from './channels.ts';
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
  /** How many channels it delivers to at once, and how many of one account; absent: 64 and 8. */
  readonly atOnce?: AtOnce;
  readonly report: Report<'warn' | 'error'>;
}

const usualPollMs = 5000;
const usualGatherMs = 200;

interface AtOnce {
  readonly inAll: number;
  readonly ofAccount: number;
}

/** Receivers that never answer hold up others of their account. */
const usualAtOnce: AtOnce = { inAll: 64, ofAccount: 8 };

/** How many channels that wait are looked at together, and how many of one account. */
const mostFound = { inAll: 1000, ofAccount: 100 };

/**
 * Delivers what waits for channels of all accounts. Any number of servers may: each channel is delivered to by the one that
 * has its lease, which is held while there is something to do and no longer. Returns a function that stops it, and waits for
 * what is under way.
 */
export function runDeliveries(options: DispatcherOptions): () => Promise<void> {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs, atOnce = usualAtOnce } = options;
  const report = reportOnce(options.report);
  const failed = (what: string) => (error: unknown) =>
    report('error', `${what}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  const owner = ownerName(engine);
  const workers = createHeldWork({
    ...{ ...options, owner, atOnce },
    failed: ({ lease }, error) => failed(lease.replace('delivery/', 'deliveries to '))(error),
    ended: () => looks.within(gatherMs),
  });
  let isAdopted = false;
  const dispatch = async (): Promise<void> => {
    // Servers of an earlier release may make channels until the last of them is replaced.
    if (!isAdopted) await adoptChannels(engine.database, deliveringKinds(options));
    isAdopted = true;
    await adoptFeeds(engine.database, recordReceivers);
    const pending = await findPending(engine.database, owner, mostFound);
    engine.observer.report({ what: 'delivery_backlog', ...backlogOf(pending) });
    for (const delivery of pending) {
      if (delivery.dueInMs > 0) looks.within(Math.max(delivery.dueInMs, gatherMs));
      else startWork(delivery);
    }
  };
  const startWork = ({ account, channel, feeds }: PendingDelivery): void => {
    workers.start({ account, lease: `delivery/${channel}` }, (hold) => workOn(options, { ...hold, channel, feeds }));
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

function deliveringKinds({ engine }: Pick<DispatcherOptions, 'engine'>): readonly string[] {
  return engine.registry.kinds.filter(({ delivers }) => delivers === true).map(({ name }) => name);
}

function backlogOf(pending: readonly PendingDelivery[]): { readonly failing: number; readonly behind: number } {
  return {
    failing: pending.filter(({ failing }) => failing).length,
    behind: pending.reduce((most, { behind }) => Math.max(most, behind), 0),
  };
}
