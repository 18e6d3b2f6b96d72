import type { CommittedRevision, Engine } from '../../commit/engine.ts';
import type { Notice } from '../../commit/notices.ts';
import { type Report, reportOnce } from '../../commit/report-once.ts';
import { runInBackground } from '../../telemetry/context.ts';
import { createHeldWork, type HeldWork, type HeldWorkOptions, type Job, ownerName } from './held-work.ts';

/** How a server does work that falls due. */
export interface DueWorkOptions extends Pick<HeldWorkOptions, 'leaseSeconds' | 'leases'> {
  readonly engine: Engine;
  /** How often to look for what no notice says, such as servers that are gone. */
  readonly pollMs?: number;
  /** How long commits are collected before it looks. */
  readonly gatherMs?: number;
  readonly report: Report<'warn' | 'error'>;
}

const usualPollMs = 5000;
const usualGatherMs = 200;

/** One kind of work. */
export interface WorkParts extends Pick<HeldWorkOptions, 'atOnce'> {
  /** What reports call it. */
  readonly name: string;
  /** What reports call one job of it; absent: as all of it. */
  nameOf?(job: Job): string;
  /** Takes up what nobody knew as work before. Done ahead of the first look, and again ahead of the one after `adopt`. */
  adopt?(): Promise<unknown>;
  /** Looks for what is due, and starts it. */
  look(work: DueWork): Promise<void>;
  /** It looks soon after these. */
  readonly notices: readonly Notice['what'][];
  /** Called with each revision that this server commits. */
  hear?(committed: CommittedRevision, work: DueWork): void;
}

/** Work that falls due again and again, each job of it on one server at a time. */
export interface DueWork extends Pick<HeldWork, 'start'> {
  /** Names this server. */
  readonly owner: string;
  /** Looks in so many milliseconds at the latest, but not before commits are collected. */
  lookWithin(ms: number): void;
  /** There is something to take up, for which it looks soon. */
  adopt(): void;
  /** Looks for what is due at once, and from then on. The function it returns ends that, and waits for what is under way. */
  run(): () => Promise<void>;
}

/**
 * Creates work for the jobs of all accounts. Any number of servers may do it: each job is done by the one that has its lease.
 * Jobs can be started before it runs.
 */
export function createDueWork(options: DueWorkOptions, parts: WorkParts): DueWork {
  const { engine, pollMs = usualPollMs, gatherMs = usualGatherMs } = options;
  const { name, nameOf = () => name, atOnce, notices, hear } = parts;
  const report = reportOnce(options.report);
  const failed = (what: string, error: unknown): void =>
    report('error', `${what}: ${error instanceof Error ? error.message : String(error)}; it is tried again`);
  const owner = ownerName(engine);
  let looks: Looks | undefined;
  const lookWithin = (ms: number): void => looks?.within(Math.max(ms, gatherMs));
  const soon = (): void => lookWithin(0);
  const jobs = createHeldWork({
    ...{ engine, owner, atOnce, leaseSeconds: options.leaseSeconds, leases: options.leases },
    failed: (job, error) => failed(nameOf(job), error),
    ended: soon,
  });
  const adoption = createAdoption(parts);
  const look = async (): Promise<void> => {
    await adoption.settle();
    await parts.look(work);
  };
  const listen = (): readonly (() => unknown)[] => {
    const listener = (committed: CommittedRevision): void => hear?.(committed, work);
    engine.listeners.add(listener);
    return [
      () => engine.listeners.delete(listener),
      engine.notices.on(({ what }) => (notices.includes(what) ? soon() : undefined)),
      engine.notices.onMissed(soon),
    ];
  };
  const work: DueWork = {
    ...{ owner, start: jobs.start, lookWithin },
    adopt() {
      adoption.request();
      soon();
    },
    run() {
      const looking = keepLooking(() => look().catch((error: unknown) => failed(name, error)), { pollMs, gatherMs });
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

/** Whether there is something to take up. */
function createAdoption({ adopt }: Pick<WorkParts, 'adopt'>) {
  let isPending = adopt !== undefined;
  return {
    request(): void {
      isPending = true;
    },
    async settle(): Promise<void> {
      if (!isPending) return;
      // Before it begins: what is committed meanwhile wants another look.
      isPending = false;
      try {
        await adopt?.();
      } catch (error) {
        isPending = true;
        throw error;
      }
    },
  };
}

/** Looks again and again, and sooner when there is a reason. */
interface Looks {
  /** Looks in so many milliseconds at the latest. */
  within(ms: number): void;
  /** Ends it; waits for a look that is under way. */
  stop(): Promise<void>;
}

/** When to look: without any reason, and after what happened during a look. */
type LookTimes = Required<Pick<DueWorkOptions, 'pollMs' | 'gatherMs'>>;

/** Looks at once, and from then on; one look at a time. `look` does not throw. */
function keepLooking(look: () => Promise<void>, { pollMs, gatherMs }: LookTimes): Looks {
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;
  let looking: Promise<void> | undefined;
  let isDue = false;
  let stopped = false;
  const within = (ms: number): void => {
    const at = performance.now() + ms;
    if (stopped || (timer !== undefined && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    // The reason may come with a request, of which this look and all that follow are no part.
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
    within,
    async stop() {
      stopped = true;
      clearTimeout(timer?.handle);
      await looking;
    },
  };
}
