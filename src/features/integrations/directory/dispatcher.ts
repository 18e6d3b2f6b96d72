import type { Call } from '../../../commit/engine.ts';
import { type Report, reportOnce } from '../../../commit/report-once.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { dropOrphanedSyncs, findPendingSyncs, syncLease } from '../../../db/directory-sync/pending.ts';
import type { LeaseKeeper } from '../../../db/leases/lease-keeper.ts';
import { leaseOwner } from '../../../db/leases/leases.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import { viewInSteps } from '../../../plan/view/view.ts';
import { readablePlan } from '../../config/plans/readable-plans.ts';
import { keepLooking } from '../deliveries/looks.ts';
import { createHeldWork, type HeldWork, type Hold, ownerName } from '../held-work.ts';
import type { Applied } from './apply.ts';
import { type SyncOptions, type SyncOutcome, syncDirectory } from './sync.ts';

/** How a server reads directories. */
export interface DirectoryOptions extends SyncOptions {
  /** When this server is gone, another one goes on after so long. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: Pick<LeaseKeeper, 'hold' | 'letGo'> | undefined;
  /** How often to look for what no notice says. */
  readonly pollMs?: number;
  /** How long commits are collected before it looks. */
  readonly gatherMs?: number;
  /** How long a request waits for the end of its sync. */
  readonly answerMs?: number;
  readonly report: Report<'warn' | 'error'>;
}

const usualPollMs = 5000;
const usualGatherMs = 200;
const usualAnswerMs = 25_000;
const atOnce = { inAll: 16, ofAccount: 4 };

/** How many integrations are looked at together. */
const mostFound = 200;

/** What people are answered who ask for a sync. */
export interface SyncAnswer {
  readonly result: string;
  /** What it would do, of a dry run. */
  readonly plan?: PlanView;
}

/** Syncs an integration, as it is now. */
export type RequestSync = (
  call: Call,
  integration: StoredObject,
  options: { readonly dryRun: boolean },
) => Promise<SyncAnswer>;

/** The syncs of directories on one server. */
export interface DirectorySyncs {
  readonly requestSync: RequestSync;
  /** Reads directories of all accounts from now on, each on one server at a time; the function it returns stops that. */
  run(): () => Promise<void>;
}

/** Creates the syncs of a server. */
export function createDirectorySyncs(options: DirectoryOptions): DirectorySyncs {
  const owner = ownerName(options.engine);
  const report = reportOnce(options.report);
  const failed = (error: unknown): void =>
    report('error', `directory syncs: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  let look = (): void => undefined;
  const work = createHeldWork({ ...options, owner, atOnce, failed: (_, error) => failed(error), ended: () => look() });
  return {
    requestSync: (call, { id, spec }, { dryRun }) =>
      spec['enabled'] === false && !dryRun
        ? Promise.resolve(disabled)
        : requestSync({ options, owner, work }, call, id, dryRun),
    run() {
      const { stop, soon } = lookForSyncs({ options, owner, work }, failed);
      look = soon;
      return async () => {
        await Promise.all([stop(), work.stop()]);
      };
    },
  };
}

interface Parts {
  readonly options: DirectoryOptions;
  readonly owner: string;
  readonly work: HeldWork;
}

function lookForSyncs({ options, owner, work }: Parts, failed: (error: unknown) => void) {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs } = options;
  const dispatch = async (): Promise<void> => {
    await dropOrphanedSyncs(engine.database);
    const pending = await findPendingSyncs(engine.database, owner, mostFound);
    engine.observer.report({
      what: 'directory_syncs_failing',
      failing: pending.filter(({ failing }) => failing).length,
    });
    for (const { account, integration, dueInMs } of pending) {
      if (dueInMs > 0) looks.within(Math.max(dueInMs, gatherMs));
      else work.start({ account, lease: `${syncLease}${integration}` }, (hold) => sync(hold, integration));
    }
  };
  const sync = async (hold: Hold, integration: string): Promise<void> => {
    await syncDirectory(options, hold, integration);
  };
  const looks = keepLooking(() => dispatch().catch(failed), { pollMs, gatherMs });
  const soon = (): void => looks.within(gatherMs);
  const unlisten = [
    engine.notices.on(({ what }) => {
      // Plans are approved under the same notice as those of sources.
      if (what === 'revision' || what === 'sources' || what === 'gone') soon();
    }),
    engine.notices.onMissed(soon),
  ];
  return {
    soon,
    async stop(): Promise<void> {
      for (const end of unlisten) end();
      await looks.stop();
    },
  };
}

const disabled: SyncAnswer = { result: 'the integration is disabled: nothing was synced' };
const busy: SyncAnswer = { result: 'a sync is under way already; the logs say what comes of it' };

async function requestSync(
  { options, owner, work }: Parts,
  call: Call,
  id: string,
  dryRun: boolean,
): Promise<SyncAnswer> {
  const { engine, answerMs = usualAnswerMs } = options;
  const { account, actor } = call;
  const lease = `${syncLease}${id}`;
  const holder = await leaseOwner(engine.database, account, lease);
  if (holder !== undefined && holder !== owner) return busy;
  let outcome: Promise<SyncOutcome> | undefined;
  const sync = async (hold: Hold): Promise<void> => {
    outcome = syncDirectory(options, hold, id, { by: actor.name, dryRun });
    await outcome.catch(() => undefined);
  };
  const done = work.start({ account, lease }, sync);
  if (done === undefined) return busy;
  const isDone = await within(
    done.then(() => true),
    answerMs,
  );
  if (isDone === undefined) return { result: 'the sync is under way, and it goes on; the logs say what comes of it' };
  // Another server was faster.
  if (outcome === undefined) return busy;
  const { result, applied } = await outcome;
  return dryRun && applied !== undefined ? { result, plan: await planOf(call, applied) } : { result };
}

/** The value, or `undefined` when it takes longer. */
async function within<Value>(value: Promise<Value>, ms: number): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function planOf(call: Call, { made: { plan, before, after } }: Applied): Promise<PlanView> {
  return readablePlan(before, call, await runInSlices(viewInSteps(plan, before, after)));
}
