import type { Engine } from '../../../commit/engine.ts';
import { adoptChannels, findPending, type PendingDelivery } from '../../../db/deliveries/pending.ts';
import { adoptFeeds } from '../../../db/deliveries/records.ts';
import { createDueWork, type DueWorkOptions } from '../due-work.ts';
import { recordReceivers } from './channels.ts';
import { type WorkerOptions, workOn } from './worker.ts';

/** How a server delivers. */
export interface DispatcherOptions extends WorkerOptions, DueWorkOptions {
  readonly engine: Engine;
  /** How many channels it delivers to at once, and how many of one account; absent: 64 and 8. */
  readonly atOnce?: AtOnce;
}

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
  const { engine, atOnce = usualAtOnce } = options;
  return createDueWork(options, {
    ...{ name: 'deliveries', atOnce, notices: ['revision', 'deliveries'] },
    nameOf: ({ lease }) => lease.replace('delivery/', 'deliveries to '),
    // Servers of an earlier release may make channels until the last of them is replaced.
    adopt: () => adoptChannels(engine.database, deliveringKinds(options)),
    async look({ owner, start, lookWithin }) {
      await adoptFeeds(engine.database, recordReceivers);
      const pending = await findPending(engine.database, owner, mostFound);
      engine.observer.report({ what: 'delivery_backlog', ...backlogOf(pending) });
      for (const { account, channel, feeds, dueInMs } of pending) {
        if (dueInMs > 0) lookWithin(dueInMs);
        else
          void start({ account, lease: `delivery/${channel}` }, (hold) => workOn(options, { ...hold, channel, feeds }));
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
