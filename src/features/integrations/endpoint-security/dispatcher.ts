import type { CommittedRevision } from '../../../commit/engine.ts';
import {
  createMissingIntegrations,
  findPendingSyncs,
  type PendingSync,
} from '../../../db/endpoint-security/pending.ts';
import { changedMembers } from '../../../model/state/members.ts';
import { isOfKind } from '../../../model/state/stored.ts';
import { createDueWork, type DueWork, type DueWorkOptions } from '../due-work.ts';
import type { RunningJob } from '../job-runner.ts';
import { integrationKinds } from './integrations.ts';
import { type SyncOptions, syncAll, syncPeers } from './sync.ts';

/** Options of querying endpoint security products. */
export type DispatcherOptions = SyncOptions & DueWorkOptions;

const maxSyncs = { inAll: 8, ofAccount: 4 };
/** Maximum number of integrations that are examined at once. */
const maxDueSyncs = 1000;
/** Maximum number of peers about which a product is queried one by one. For more peers all devices are read. */
const maxOneByOne = 50;

/**
 * Queries the products of all accounts about their devices: repeatedly, and at once about peers that joined their
 * groups. Any number of servers may do this: each product is queried by the server that has the lease of the
 * integration. Returns a function that stops this and waits for running syncs.
 */
export function runEndpointSecurity(options: DispatcherOptions): () => Promise<void> {
  const { engine } = options;
  const arrivals = new Map<string, Set<string>>();
  return createDueWork(options, {
    ...{ name: 'endpoint security', atOnce: maxSyncs, notices: ['verdicts'] },
    nameOf: ({ lease }) => `the sync \`${lease}\``,
    createMissingJobs: () => createMissingIntegrations(engine.database, integrationKinds),
    async poll(work) {
      const accounts = [...arrivals.keys()];
      const pending = await findPendingSyncs(engine.database, { owner: work.owner, accounts, limit: maxDueSyncs });
      engine.observer.report({
        what: 'endpoint_syncs_failing',
        failing: pending.filter(({ failing, isElsewhere }) => failing && !isElsewhere).length,
      });
      const arrived = new Map(accounts.map((account) => [account, [...(arrivals.get(account) ?? [])]]));
      for (const account of accounts) arrivals.delete(account);
      for (const sync of pending) startSync({ options, work, arrivals }, sync, arrived.get(sync.account) ?? []);
    },
    onRevision(committed, work) {
      const peers = arrivalsIn(committed);
      recordArrivals(arrivals, committed.account, peers);
      if (committed.plan.changes.some((change) => integrationKinds.includes(kindOf(change)))) work.requestMissingJobs();
      else if (peers.length > 0) work.pollWithin(0);
    },
  }).run();
}

/** Peers that joined groups, by account, until the products are queried about them. */
type Arrivals = Map<string, Set<string>>;

interface SyncContext {
  readonly options: DispatcherOptions;
  readonly work: DueWork;
  readonly arrivals: Arrivals;
}

/** Starts a sync of all devices when it is due, otherwise a sync of the peers that arrived. */
function startSync({ options, work, arrivals }: SyncContext, sync: PendingSync, peers: readonly string[]): void {
  const { account, integration: id, dueInMs, isElsewhere } = sync;
  const isForAll = dueInMs <= 0 || peers.length > maxOneByOne;
  if (!isForAll) work.pollWithin(dueInMs);
  if (!isForAll && peers.length === 0) return;
  // A running sync began without these peers. They wait for its end, or for a free slot.
  const wait = (): void => recordArrivals(arrivals, account, peers);
  let isBegun = false;
  const doSync = async (hold: RunningJob): Promise<void> => {
    isBegun = true;
    await (isForAll ? syncAll(options, hold, { id, isForced: dueInMs > 0 }) : syncPeers(options, hold, { id, peers }));
  };
  const done = isElsewhere ? undefined : work.start({ account, lease: `endpoint-security/${id}` }, doSync);
  if (done === undefined) wait();
  // Another server got the lease first.
  else void done.then(() => (isBegun ? undefined : wait()));
}

function recordArrivals(arrivals: Arrivals, account: string, peers: readonly string[]): void {
  if (peers.length === 0) return;
  arrivals.set(account, new Set([...(arrivals.get(account) ?? []), ...peers]));
}

type Change = CommittedRevision['plan']['changes'][number];

function kindOf({ before, after }: Change): string {
  return (after ?? before)?.kind ?? '';
}

/** Returns the peers that enrolled, and the peers that joined a group. */
function arrivalsIn({ plan }: CommittedRevision): readonly string[] {
  return plan.changes.flatMap(({ before, after }): readonly string[] => {
    if (isOfKind(after, 'Peer')) return before === undefined ? [after.id] : [];
    if (!isOfKind(after, 'Group')) return [];
    return changedMembers(before, after, 'peers').flatMap(({ id, was }) => (was.length === 0 ? [id] : []));
  });
}
