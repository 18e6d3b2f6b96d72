import type { CommittedRevision } from '../../../commit/engine.ts';
import { type Report, reportOnce } from '../../../commit/report-once.ts';
import { adoptIntegrations, findPendingSyncs, type PendingSync } from '../../../db/endpoint-security/pending.ts';
import type { LeaseKeeper } from '../../../db/leases/lease-keeper.ts';
import { movedMembers } from '../../../model/state/members.ts';
import { isOfKind } from '../../../model/state/stored.ts';
import { keepLooking } from '../deliveries/looks.ts';
import { createHeldWork, type Hold, ownerName } from '../held-work.ts';
import { integrationKinds } from './integrations.ts';
import { type SyncOptions, syncAll, syncSome } from './sync.ts';

/** How a server asks products of endpoint security. */
export interface DispatcherOptions extends SyncOptions {
  /** When this server is gone, another one goes on after so long. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
  /** How often to look for what is due. */
  readonly pollMs?: number;
  /** How long commits are collected before it looks. */
  readonly gatherMs?: number;
  readonly report: Report<'warn' | 'error'>;
}

const usualPollMs = 5000;
const usualGatherMs = 200;
const atOnce = { inAll: 8, ofAccount: 4 };
/** How many integrations are looked at together. */
const mostFound = 1000;
/** More peers than this are not asked about one by one: all devices are read. */
const mostOneByOne = 50;

/**
 * Asks the products of all accounts about their devices, again and again, and at once about peers that came into their
 * groups. Any number of servers may: each product is asked by the one that has the lease of the integration. Returns a
 * function that stops it, and waits for what is under way.
 */
export function runEndpointSecurity(options: DispatcherOptions): () => Promise<void> {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs } = options;
  const report = reportOnce(options.report);
  const failed = (what: string) => (error: unknown) =>
    report('error', `${what}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  const owner = ownerName(engine);
  const jobs = createHeldWork({
    ...{ ...options, owner, atOnce },
    failed: ({ lease }, error) => failed(`the sync \`${lease}\``)(error),
    ended: () => looks.within(gatherMs),
  });
  const arrivals = new Map<string, Set<string>>();
  let isAdopted = false;
  const dispatch = async (): Promise<void> => {
    if (!isAdopted) await adoptIntegrations(engine.database, integrationKinds);
    isAdopted = true;
    const accounts = [...arrivals.keys()];
    const pending = await findPendingSyncs(engine.database, { owner, accounts, limit: mostFound });
    engine.observer.report({
      what: 'endpoint_syncs_failing',
      failing: pending.filter(({ failing, isElsewhere }) => failing && !isElsewhere).length,
    });
    const arrived = new Map(accounts.map((account) => [account, [...(arrivals.get(account) ?? [])]]));
    for (const account of accounts) arrivals.delete(account);
    for (const sync of pending) startSync(sync, arrived.get(sync.account) ?? []);
  };
  const startSync = (sync: PendingSync, peers: readonly string[]): void => {
    const { account, integration: id, dueInMs, isElsewhere } = sync;
    const isForAll = dueInMs <= 0 || peers.length > mostOneByOne;
    if (!isForAll) looks.within(Math.max(dueInMs, gatherMs));
    if (!isForAll && peers.length === 0) return;
    // A sync that is under way began without them: they wait for its end, and for a slot when all are taken.
    const wait = (): void => noteArrivals(arrivals, account, peers);
    let isBegun = false;
    const work = async (hold: Hold): Promise<void> => {
      isBegun = true;
      await (isForAll ? syncAll(options, hold, { id, isForced: dueInMs > 0 }) : syncSome(options, hold, { id, peers }));
    };
    const done = isElsewhere ? undefined : jobs.start({ account, lease: `endpoint-security/${id}` }, work);
    if (done === undefined) wait();
    // Another server was faster.
    else void done.then(() => (isBegun ? undefined : wait()));
  };
  const looks = keepLooking(() => dispatch().catch(failed('endpoint security')), { pollMs, gatherMs });
  const hear = (committed: CommittedRevision): void => {
    const peers = arrivalsIn(committed);
    const isIntegrated = committed.plan.changes.some((change) => integrationKinds.includes(kindOf(change)));
    if (isIntegrated) isAdopted = false;
    noteArrivals(arrivals, committed.account, peers);
    if (isIntegrated || peers.length > 0) looks.within(gatherMs);
  };
  engine.listeners.add(hear);
  const unlisten = engine.notices.on(({ what }) => (what === 'verdicts' ? looks.within(gatherMs) : undefined));
  return async () => {
    unlisten();
    engine.listeners.delete(hear);
    await Promise.all([looks.stop(), jobs.stop()]);
  };
}

function noteArrivals(arrivals: Map<string, Set<string>>, account: string, peers: readonly string[]): void {
  if (peers.length === 0) return;
  arrivals.set(account, new Set([...(arrivals.get(account) ?? []), ...peers]));
}

type Change = CommittedRevision['plan']['changes'][number];

function kindOf({ before, after }: Change): string {
  return (after ?? before)?.kind ?? '';
}

/** Peers that enrolled, and those that joined a group. */
function arrivalsIn({ plan }: CommittedRevision): readonly string[] {
  return plan.changes.flatMap(({ before, after }): readonly string[] => {
    if (isOfKind(after, 'Peer')) return before === undefined ? [after.id] : [];
    if (!isOfKind(after, 'Group')) return [];
    return movedMembers(before, after, 'peers').flatMap(({ id, was }) => (was.length === 0 ? [id] : []));
  });
}
