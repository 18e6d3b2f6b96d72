import type { CommittedRevision, Engine } from '../../commit/engine.ts';
import type { Notice } from '../../commit/notices.ts';
import { type Report, reportOnce } from '../../commit/report-once.ts';
import { runInBackground } from '../../telemetry/context.ts';
import { createJobRunner, type Job, type JobRunner, type JobRunnerOptions, ownerName } from './job-runner.ts';

/** Options of work that falls due. */
export interface DueWorkOptions extends Pick<JobRunnerOptions, 'leaseSeconds' | 'leases'> {
  readonly engine: Engine;
  /**
   * Interval of looking for work that no notice announces, such as work of servers that are gone, in milliseconds.
   * Absent: 5 s.
   */
  readonly pollMs?: number;
  /** Time for which commits are collected before a look, in milliseconds. Absent: 200 ms. */
  readonly gatherMs?: number;
  readonly report: Report<'warn' | 'error'>;
}

const defaultPollMs = 5000;
const defaultGatherMs = 200;

/** Definition of one kind of work. */
export interface WorkDefinition extends Pick<JobRunnerOptions, 'atOnce'> {
  /** Name of the work in reports. */
  readonly name: string;
  /** Returns the name of one job in reports. Absent: the name of the work. */
  nameOf?(job: Job): string;
  /**
   * Records jobs that are not recorded as work yet. Called before the first look, and again before the look after
   * `DueWork.requestMissingJobs`.
   */
  createMissingJobs?(): Promise<unknown>;
  /** Looks for work that is due, and starts it. */
  poll(work: DueWork): Promise<void>;
  /** Notices soon after which it looks for work. */
  readonly notices: readonly Notice['what'][];
  /** Called with each revision that this server commits. */
  onRevision?(committed: CommittedRevision, work: DueWork): void;
}

/** Work that falls due repeatedly. Each of its jobs is done by one server at a time. */
export interface DueWork extends Pick<JobRunner, 'start'> {
  /** Name of this server. */
  readonly owner: string;
  /** Looks for work within this number of milliseconds, but not before commits are collected. */
  pollWithin(ms: number): void;
  /** Has `WorkDefinition.createMissingJobs` called again, before a look that follows soon. */
  requestMissingJobs(): void;
  /** Looks for due work at once and then repeatedly. Returns a function that stops this and waits for running jobs. */
  run(): () => Promise<void>;
}

/**
 * Creates work for the jobs of all accounts. Any number of servers may do it: each job is done by the server that has
 * its lease. Jobs can be started before `run` is called.
 */
export function createDueWork(options: DueWorkOptions, parts: WorkDefinition): DueWork {
  const { engine, pollMs = defaultPollMs, gatherMs = defaultGatherMs } = options;
  const { name, nameOf = () => name, atOnce, notices, onRevision } = parts;
  const report = reportOnce(options.report);
  const failed = (what: string, error: unknown): void =>
    report('error', `${what}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  const owner = ownerName(engine);
  let looks: Poller | undefined;
  const lookWithin = (ms: number): void => looks?.pollWithin(Math.max(ms, gatherMs));
  const soon = (): void => lookWithin(0);
  const jobs = createJobRunner({
    ...{ engine, owner, atOnce, leaseSeconds: options.leaseSeconds, leases: options.leases },
    failed: (job, error) => failed(nameOf(job), error),
    ended: soon,
  });
  const adoption = trackMissingJobs(parts);
  const look = async (): Promise<void> => {
    await adoption.settle();
    await parts.poll(work);
  };
  const listen = (): readonly (() => unknown)[] => {
    const listener = (committed: CommittedRevision): void => onRevision?.(committed, work);
    engine.listeners.add(listener);
    return [
      () => engine.listeners.delete(listener),
      engine.notices.on(({ what }) => (notices.includes(what) ? soon() : undefined)),
      engine.notices.onMissed(soon),
    ];
  };
  const work: DueWork = {
    ...{ owner, start: jobs.start, pollWithin: lookWithin },
    requestMissingJobs() {
      adoption.request();
      soon();
    },
    run() {
      const looking = startPolling(() => look().catch((error: unknown) => failed(name, error)), { pollMs, gatherMs });
      looks = looking;
      const ends = listen();
      return async () => {
        for (const end of ends) end();
        await Promise.all([looking.stop(), jobs.stop()]);
      };
    },
  };
  return work;
}

/** Tracks whether `createMissingJobs` must be called. */
function trackMissingJobs({ createMissingJobs }: Pick<WorkDefinition, 'createMissingJobs'>) {
  let isPending = createMissingJobs !== undefined;
  return {
    request(): void {
      isPending = true;
    },
    async settle(): Promise<void> {
      if (!isPending) return;
      // Reset before the call: a request that arrives during the call needs another one.
      isPending = false;
      try {
        await createMissingJobs?.();
      } catch (error) {
        isPending = true;
        throw error;
      }
    },
  };
}

/** A loop that looks repeatedly, and sooner on request. */
interface Poller {
  /** Looks within this number of milliseconds. */
  pollWithin(ms: number): void;
  /** Ends the loop and waits for a running look. */
  stop(): Promise<void>;
}

/** Delays of the next look: without a request, and after a request that arrived during a look. */
type PollDelays = Required<Pick<DueWorkOptions, 'pollMs' | 'gatherMs'>>;

/** Looks at once and then repeatedly, one look at a time. `look` must not throw. */
function startPolling(look: () => Promise<void>, { pollMs, gatherMs }: PollDelays): Poller {
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;
  let looking: Promise<void> | undefined;
  let isDue = false;
  let stopped = false;
  const within = (ms: number): void => {
    const at = performance.now() + ms;
    if (stopped || (timer !== undefined && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    // A request may cause this look, but this look and all that follow must not belong to the request's context.
    timer = { at, handle: runInBackground(() => setTimeout(start, ms)) };
  };
  const start = (): void => {
    timer = undefined;
    isDue = looking !== undefined;
    looking ??= look().finally(() => {
      looking = undefined;
      within(isDue ? gatherMs : pollMs);
      isDue = false;
    });
  };
  within(0);
  return {
    pollWithin: within,
    async stop() {
      stopped = true;
      clearTimeout(timer?.handle);
      await looking;
    },
  };
}
