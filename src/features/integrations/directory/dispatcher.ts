import type { Call, Engine } from '../../../commit/engine.ts';
import { runInSlices } from '../../../commit/slices.ts';
import { dropOrphanedSyncs, findPendingSyncs, syncLease } from '../../../db/directory-sync/pending.ts';
import { leaseOwner } from '../../../db/leases/leases.ts';
import type { StoredObject } from '../../../model/state/object.ts';
import type { PlanView } from '../../../operations/config/plan.ts';
import { viewInSteps } from '../../../plan/view/view.ts';
import { readablePlan } from '../../config/plans/readable-plans.ts';
import { createDueWork, type DueWork, type DueWorkOptions } from '../due-work.ts';
import type { RunningJob } from '../job-runner.ts';
import type { AppliedDirectory } from './apply.ts';
import { type SyncOptions, type SyncOutcome, syncDirectory } from './sync.ts';

/** Options of reading directories. */
export interface DirectoryOptions extends SyncOptions, DueWorkOptions {
  readonly engine: Engine;
  /** Time that a request waits for the end of its sync, in milliseconds. Absent: 25 s. */
  readonly answerMs?: number;
}

const defaultAnswerMs = 25_000;
const maxSyncs = { inAll: 16, ofAccount: 4 };

/** Maximum number of integrations that are examined at once. */
const maxDueSyncs = 200;

/** Answer to a user who requests a sync. */
export interface SyncAnswer {
  readonly result: string;
  /** Plan of a dry run. */
  readonly plan?: PlanView;
}

/** Syncs an integration in its current state, on request of a user. */
export type RequestSync = (
  call: Call,
  integration: StoredObject,
  options: { readonly dryRun: boolean },
) => Promise<SyncAnswer>;

/** Directory syncs of one server. */
export interface DirectorySyncs {
  readonly requestSync: RequestSync;
  /**
   * Starts to read the directories of all accounts, each on one server at a time. Returns a function that stops this.
   */
  run(): () => Promise<void>;
}

/** Creates the directory syncs of a server. */
export function createDirectorySyncs(options: DirectoryOptions): DirectorySyncs {
  const { engine } = options;
  const work = createDueWork(options, {
    // An approval of a plan publishes the notice `sources`, also for a plan of a directory.
    ...{ name: 'directory syncs', atOnce: maxSyncs, notices: ['revision', 'sources', 'gone'] },
    async poll({ owner, start, pollWithin }) {
      await dropOrphanedSyncs(engine.database);
      const pending = await findPendingSyncs(engine.database, owner, maxDueSyncs);
      engine.observer.report({
        what: 'directory_syncs_failing',
        failing: pending.filter(({ failing }) => failing).length,
      });
      const sync = async (hold: RunningJob, integration: string): Promise<void> =>
        void (await syncDirectory(options, hold, integration));
      for (const { account, integration, dueInMs } of pending) {
        if (dueInMs > 0) pollWithin(dueInMs);
        else void start({ account, lease: `${syncLease}${integration}` }, (hold) => sync(hold, integration));
      }
    },
  });
  return {
    requestSync: (call, { id, spec }, { dryRun }) =>
      spec['enabled'] === false && !dryRun
        ? Promise.resolve(disabled)
        : requestSync({ options, work }, call, id, dryRun),
    run: () => work.run(),
  };
}

interface SyncContext {
  readonly options: DirectoryOptions;
  readonly work: DueWork;
}

const disabled: SyncAnswer = { result: 'the integration is disabled: nothing was synced' };
const busy: SyncAnswer = { result: 'a sync is already running; the logs will show its result' };

async function requestSync(
  { options, work }: SyncContext,
  call: Call,
  id: string,
  dryRun: boolean,
): Promise<SyncAnswer> {
  const { engine, answerMs = defaultAnswerMs } = options;
  const { account, actor } = call;
  const lease = `${syncLease}${id}`;
  const holder = await leaseOwner(engine.database, account, lease);
  if (holder !== undefined && holder !== work.owner) return busy;
  let outcome: Promise<SyncOutcome> | undefined;
  const sync = async (hold: RunningJob): Promise<void> => {
    outcome = syncDirectory(options, hold, id, { by: actor.name, dryRun });
    await outcome.catch(() => undefined);
  };
  const done = work.start({ account, lease }, sync);
  if (done === undefined) return busy;
  const isDone = await withTimeout(
    done.then(() => true),
    answerMs,
  );
  if (isDone === undefined) return { result: 'the sync is still running; the logs will show its result' };
  // Another server got the lease first.
  if (outcome === undefined) return busy;
  const { result, applied } = await outcome;
  return dryRun && applied !== undefined ? { result, plan: await planOf(call, applied) } : { result };
}

/** Returns the value, or `undefined` when it takes longer than `ms`. */
async function withTimeout<Value>(value: Promise<Value>, ms: number): Promise<Value | undefined> {
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

async function planOf(call: Call, { provisioned: { plan, before, after } }: AppliedDirectory): Promise<PlanView> {
  return readablePlan(before, call, await runInSlices(viewInSteps(plan, before, after)));
}
