import type { Engine } from '../../../commit/engine.ts';
import { createMissingCursors, findPendingDeliveries, type PendingDelivery } from '../../../db/deliveries/pending.ts';
import { subscribeToFeeds } from '../../../db/deliveries/records.ts';
import { createDueWork, type DueWorkOptions } from '../due-work.ts';
import { recordReceivers } from './channels.ts';
import { deliverChannel, type WorkerOptions } from './worker.ts';

/** Options of delivering events. */
export interface DispatcherOptions extends WorkerOptions, DueWorkOptions {
  readonly engine: Engine;
  /** Maximum number of channels to which this server delivers at once, in total and per account. Absent: 64 and 8. */
  readonly atOnce?: ConcurrencyLimits;
}

interface ConcurrencyLimits {
  readonly inAll: number;
  readonly ofAccount: number;
}

/** Receivers that never answer hold up only other receivers of their account. */
const defaultMaxDeliveries: ConcurrencyLimits = { inAll: 64, ofAccount: 8 };

/** Maximum number of waiting channels that are examined at once, in total and per account. */
const maxDueDeliveries = { inAll: 1000, ofAccount: 100 };

/**
 * Delivers the events that wait for channels of all accounts. Any number of servers may do this: each channel is served
 * by the server that has its lease, which it keeps only while there is something to send. Returns a function that stops
 * the deliveries and waits for the running ones.
 */
export function runDeliveries(options: DispatcherOptions): () => Promise<void> {
  const { engine, atOnce = defaultMaxDeliveries } = options;
  return createDueWork(options, {
    ...{ name: 'deliveries', atOnce, notices: ['revision', 'deliveries'] },
    nameOf: ({ lease }) => lease.replace('delivery/', 'deliveries to '),
    // Servers of an earlier release may create channels until the last of these servers is replaced.
    createMissingJobs: () => createMissingCursors(engine.database, deliveringKinds(options)),
    async poll({ owner, start, pollWithin }) {
      await subscribeToFeeds(engine.database, recordReceivers);
      const pending = await findPendingDeliveries(engine.database, owner, maxDueDeliveries);
      engine.observer.report({ what: 'delivery_backlog', ...backlogOf(pending) });
      for (const { account, channel, feeds, dueInMs } of pending) {
        if (dueInMs > 0) pollWithin(dueInMs);
        else
          void start({ account, lease: `delivery/${channel}` }, (hold) =>
            deliverChannel(options, { ...hold, channel, feeds }),
          );
      }
    },
  }).run();
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
