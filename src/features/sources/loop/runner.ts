import type { Engine } from '../../../commit/engine.ts';
import { readInput } from '../../../documents/input.ts';
import type { Reader } from '../../../documents/reader.ts';
import { NotFound } from '../../../model/errors.ts';
import { isSourceSuspended } from '../../../model/sources/settings.ts';
import { isConditionTrue, readStatus } from '../../../model/sources/status.ts';
import type { SourceDefinition } from '../definition.ts';
import type { Origin } from '../files/origin.ts';
import {
  explainLostLease,
  releaseSourceLease,
  renewSourceLease,
  type SourceLease,
  type SourceLeaseKeeper,
  takeSourceLease,
} from '../leases.ts';
import { type CalledSource, describeOtherWriters, markRequestHandled } from '../scheduled-sources.ts';
import { filesStatedBy, findSource, recordClaimedKeys, recordSource } from '../sources.ts';
import { type Clock, type Loop, runLoop } from './loop.ts';
import { goneMessage, hotMessage } from './messages.ts';
import { createReconciler, type Reconciler } from './reconcile.ts';
import type { Reporter } from './report.ts';
import { defaultTiming, type Timing, type Trigger } from './schedule.ts';

/** Options that all sources of a server share. */
export interface RunnerOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Identifies this server among those that use the database. */
  readonly owner: string;
  /** Duration of a lease, in seconds. When this server fails, another one takes over after that time. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy. Absent: they are not renewed then. */
  readonly leases?: SourceLeaseKeeper | undefined;
  readonly version: string;
  readonly clock: Clock;
  /** Timing of the loops, except for their intervals. */
  readonly timing?: Partial<Timing>;
  readonly report: Reporter;
}

/** State that a server keeps of a source while it has the lease. */
interface HeldSource {
  readonly lease: SourceLease;
  readonly loop: Loop;
  readonly reconciler: Reconciler;
  readonly renewing: NodeJS.Timeout;
  readonly unwatch: () => Promise<void>;
  renewedAt: number;
  generation: number;
  suspended: boolean;
  requested: string | null;
  hinted: string | null;
  approved: boolean;
}

/** Time for which a server counts as starting, in milliseconds. */
const startupMs = 5000;

/** Runs one source while this server has its lease, and tries to take the lease while no server has it. */
export class SourceRunner {
  readonly definition: SourceDefinition;
  readonly #options: RunnerOptions;
  readonly #origin: Origin;
  #held: HeldSource | undefined;
  #changing: Promise<void> | undefined;
  readonly #createdAt: number;
  #stopped = false;
  #reported = '';

  constructor(options: RunnerOptions, definition: SourceDefinition) {
    this.#options = options;
    this.definition = definition;
    this.#createdAt = options.clock.now();
    this.#origin = definition.open({
      onError: (error) => this.#report(error),
      statedFiles: () => filesStatedBy(options.engine, definition.account, definition.name),
    });
  }

  /** Updates the runner with what is recorded of the source now. `undefined` when nothing is recorded. */
  update(called: CalledSource | undefined): void {
    if (this.#stopped || this.#changing !== undefined) return;
    const held = this.#held;
    if (held === undefined) {
      if ((called?.runner ?? null) === null) this.#runChange(() => this.#takeLease(called?.hinted ?? null));
      return;
    }
    if (called !== undefined) this.#handleRequests(held, called);
  }

  /**
   * Reads the documents of the source, and records the keys that they claim but that the source does not declare yet.
   */
  async refreshClaims(): Promise<void> {
    const { engine, reader } = this.#options;
    const { account, name } = this.definition;
    const found = await this.#origin.peek();
    if (!found.ok || found.selection.problems.length > 0) return;
    const { documents } = await readInput(reader, found.files, { account });
    await recordClaimedKeys(engine, account, name, documents);
  }

  /** Stops the runner: a running reconcile completes, and the lease is given back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#changing;
    const held = this.#held;
    if (held === undefined) return;
    await this.#endLoop(held);
    await releaseSourceLease(this.#options.engine, held.lease).catch((error: unknown) => this.#report(error));
  }

  /** Runs one change at a time: taking the lease, or giving it up. */
  #runChange(work: () => Promise<void>): void {
    this.#changing = work()
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#changing = undefined;
      });
  }

  /** Takes the lease and starts the loop. `hinted` is the newest hint so far: only later hints cause a reconcile. */
  async #takeLease(hinted: string | null): Promise<void> {
    const { engine, owner, leaseSeconds: seconds, clock } = this.#options;
    const { account, name, type, spec, isConfigured } = this.definition;
    const renewedAt = clock.now();
    const lease = await takeSourceLease(engine, { account, source: name, owner, seconds });
    if (lease === undefined) {
      // Either another server was faster, or the account does not exist any more. In the second case this throws
      // `NotFound`.
      await engine.snapshots.fresh(account);
      return;
    }
    const caller = { account, actor: { type: 'source', id: name, name } as const };
    if (isConfigured) await recordSource(engine, caller, { id: name, type, spec });
    const stored = await findSource(engine, account, name);
    if (stored === undefined) throw new NotFound(`source ${name} not found`);
    this.#reported = '';
    this.#held = this.#startLoop({ ...stored, lease, renewedAt, hinted });
  }

  #startLoop(stored: {
    readonly lease: SourceLease;
    readonly renewedAt: number;
    readonly hinted: string | null;
    readonly generation: number;
    readonly suspended: boolean;
    readonly spec: SourceDefinition['spec'];
    readonly status: Parameters<typeof readStatus>[0];
  }): HeldSource {
    const { engine, reader, version, clock, leaseSeconds, report } = this.#options;
    const { account, name, intervalMs, delayMs, holdsBack, onStatusRecorded } = this.definition;
    const { lease, renewedAt, hinted, generation } = stored;
    const suspended = isSourceSuspended(stored);
    const timing = { ...defaultTiming, ...this.#options.timing, intervalMs };
    const reconciler = createReconciler({
      ...{ engine, reader, account, name, origin: this.#origin, lease, version, clock, report },
      ...(holdsBack === undefined ? {} : { holdsBack }),
      ...(onStatusRecorded === undefined ? {} : { onStatusRecorded }),
      ...{ status: readStatus(stored.status), slowMs: timing.slowMs },
      generation: () => this.#held?.generation ?? generation,
      nextRunAt: () => this.#nextRunAt(),
    });
    // A server that takes over from another server begins at once.
    const delay = clock.now() - this.#createdAt < startupMs ? delayMs : 0;
    // Comes before the loop starts, so that no reconcile begins under a lease that is not renewed.
    this.#options.leases?.hold(lease, leaseSeconds);
    const loop = runLoop({
      ...{ timing, delay, suspended, clock },
      reconcile: (trigger, fresh) => this.#reconcile(reconciler, trigger, fresh),
      onRanHot: (trigger) => void this.#reportHot(reconciler, trigger).catch((error: unknown) => this.#report(error)),
    });
    const renewing = setInterval(() => void this.#renew(), (leaseSeconds * 1000) / 3);
    const unwatch = this.#origin.watch(() => loop.request('content'));
    // The source may have been suspended or resumed while no server ran it.
    const status = readStatus(stored.status);
    if (isConditionTrue(status, 'Suspended') !== suspended) this.#recordSuspension(reconciler, suspended);
    const asked = { requested: null, hinted, approved: false };
    return { lease, loop, reconciler, renewing, unwatch, renewedAt, generation, suspended, ...asked };
  }

  #recordSuspension(reconciler: Reconciler, suspended: boolean): void {
    const what = suspended ? 'suspended' : 'resumed';
    reconciler.note({ what }).catch((error: unknown) => this.#report(error));
  }

  /** Carries out what is requested of the source. */
  #handleRequests(held: HeldSource, called: CalledSource): void {
    const { generation, requested, hinted, approved } = called;
    const suspended = isSourceSuspended(called);
    const isChanged = generation !== held.generation;
    held.generation = generation;
    if (suspended !== held.suspended) {
      held.suspended = suspended;
      if (suspended) held.loop.suspend();
      else held.loop.resume();
      this.#recordSuspension(held.reconciler, suspended);
    } else if (isChanged) held.loop.request('settings');
    if (suspended) held.reconciler.remind().catch((error: unknown) => this.#report(error));
    const isHinted = hinted !== held.hinted;
    const isRequested = requested !== null && requested !== held.requested;
    const isApproved = approved && !held.approved;
    held.hinted = hinted;
    held.approved = approved;
    held.requested = requested ?? held.requested;
    if (isHinted) held.loop.request('hint');
    if (isApproved) held.loop.request('approval');
    if (isRequested) held.loop.request('request');
  }

  async #reconcile(reconciler: Reconciler, trigger: Trigger, fresh: (key: string) => boolean) {
    const requested = this.#held?.requested ?? null;
    const conclusion = await reconciler.reconcile(fresh, { isProbe: trigger === 'probe' });
    if (conclusion.result === 'failed' && conclusion.isLost === true) {
      // Checks the lease now instead of at its next renewal. The request is left to the next holder of the lease.
      void this.#renew();
      return conclusion;
    }
    if (trigger !== 'request' || requested === null) return conclusion;
    const { account, name } = this.definition;
    const { engine } = this.#options;
    // If this fails, the request stays unmarked, and the next server that runs the source handles it again.
    await markRequestHandled(engine, account, name, requested).catch((error: unknown) => this.#report(error));
    return conclusion;
  }

  async #reportHot(reconciler: Reconciler, trigger: Trigger): Promise<void> {
    const { engine, report } = this.#options;
    const { account, name } = this.definition;
    const message = hotMessage(name, trigger, await describeOtherWriters(engine, account, name));
    report({ level: 'error', message });
    await reconciler.note({ what: 'hot', message });
  }

  async #renew(): Promise<void> {
    const held = this.#held;
    if (held === undefined || this.#changing !== undefined) return;
    const { engine, clock, leaseSeconds } = this.#options;
    const now = clock.now();
    // When the database is unreachable, it is unknown whether the lease was renewed. After its lifetime, the lease is
    // not relied on.
    const isKept = await renewSourceLease(engine, held.lease, leaseSeconds).catch(() => undefined);
    if (isKept === true) held.renewedAt = now;
    const isOver = isKept === false || clock.now() - held.renewedAt >= leaseSeconds * 1000;
    if (isOver && !this.#stopped && this.#changing === undefined) this.#runChange(() => this.#handleLostLease(held));
  }

  async #handleLostLease(held: HeldSource): Promise<void> {
    const { name } = this.definition;
    const { engine, report } = this.#options;
    const why = await explainLostLease(engine, held.lease).catch(
      () => 'its lease could not be renewed, because the database is unreachable; its next holder continues',
    );
    report({ level: 'warn', message: `source ${name}: ${why}` });
    await this.#endLoop(held);
  }

  /** Ends the loop. The lease is kept until a running reconcile has ended. */
  async #endLoop(held: HeldSource): Promise<void> {
    await held.unwatch();
    await held.loop.stop();
    clearInterval(held.renewing);
    this.#options.leases?.release(held.lease);
    this.#held = undefined;
    this.#options.engine.observer.report({ what: 'left', account: held.lease.account, source: this.definition.name });
  }

  #nextRunAt(): string | undefined {
    const dueIn = this.#held?.loop.msUntilDue();
    return dueIn === undefined ? undefined : new Date(Date.parse(this.#options.engine.now()) + dueIn).toISOString();
  }

  /** Reports an error. The same error is not reported twice in a row. */
  #report(error: unknown): void {
    const { account, name } = this.definition;
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof NotFound ? goneMessage(name, account) : `source ${name}: ${reason}; it is tried again`;
    if (message !== this.#reported) this.#options.report({ level: 'error', message });
    this.#reported = message;
  }
}
