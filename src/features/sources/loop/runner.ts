import type { Engine } from '../../../commit/engine.ts';
import { readInput } from '../../../documents/input.ts';
import type { Reader } from '../../../documents/reader.ts';
import { NotFound } from '../../../model/errors.ts';
import { isSourceSuspended } from '../../../model/sources/settings.ts';
import { isSo, readStatus } from '../../../model/sources/status.ts';
import type { SourceDefinition } from '../definition.ts';
import type { Origin } from '../files/origin.ts';
import {
  explainLostSource,
  giveSourceBack,
  keepSource,
  type SourceLease,
  type SourceLeaseKeeper,
  takeSource,
} from '../leases.ts';
import { type CalledSource, describeOtherWriters, markRequestHandled } from '../scheduled-sources.ts';
import { filesStatedBy, findSource, recordClaimedKeys, recordSource } from '../sources.ts';
import { type Clock, type Loop, runLoop } from './loop.ts';
import { goneMessage, hotMessage } from './messages.ts';
import { createReconciler, type Reconciler } from './reconcile.ts';
import type { Reporter } from './report.ts';
import { plainTiming, type Timing, type Trigger } from './schedule.ts';

/** What all sources of a server share. */
export interface RunnerOptions {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Names this server among those of the database. */
  readonly owner: string;
  /** How long a lease lasts: when this server is gone, another one takes over after so long. */
  readonly leaseSeconds: number;
  /** Renews leases while this thread is busy; absent: nothing does. */
  readonly leases?: SourceLeaseKeeper | undefined;
  readonly version: string;
  readonly clock: Clock;
  /** Times of the loops other than their intervals. */
  readonly timing?: Partial<Timing>;
  readonly report: Reporter;
}

/** What a server that has the lease keeps of a source. */
interface Held {
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

/** So long a server is starting. */
const startMs = 5000;

/** Runs one source while this server has its lease, and tries to get the lease while no server has it. */
export class SourceRunner {
  readonly definition: SourceDefinition;
  readonly #options: RunnerOptions;
  readonly #origin: Origin;
  #held: Held | undefined;
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

  /** Takes notice of what is recorded of the source at this moment; `undefined` when nothing is. */
  see(called: CalledSource | undefined): void {
    if (this.#stopped || this.#changing !== undefined) return;
    const held = this.#held;
    if (held === undefined) {
      if ((called?.runner ?? null) === null) this.#change(() => this.#begin(called?.hinted ?? null));
      return;
    }
    if (called !== undefined) this.#heed(held, called);
  }

  /** Records which keys the source wants that it does not state yet, read where this server finds its documents. */
  async refreshClaims(): Promise<void> {
    const { engine, reader } = this.#options;
    const { account, name } = this.definition;
    const found = await this.#origin.peek();
    if (!found.ok || found.selection.problems.length > 0) return;
    const { documents } = await readInput(reader, found.files, { account });
    await recordClaimedKeys(engine, account, name, documents);
  }

  /** Ends it: a reconcile that is under way completes, and the lease is given back. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#changing;
    const held = this.#held;
    if (held === undefined) return;
    await this.#end(held);
    await giveSourceBack(this.#options.engine, held.lease).catch((error: unknown) => this.#report(error));
  }

  /** One change at a time between having the lease and not having it. */
  #change(work: () => Promise<void>): void {
    this.#changing = work()
      .catch((error: unknown) => this.#report(error))
      .finally(() => {
        this.#changing = undefined;
      });
  }

  /** `hinted` is the newest hint before: later ones ask for another look. */
  async #begin(hinted: string | null): Promise<void> {
    const { engine, owner, leaseSeconds: seconds, clock } = this.#options;
    const { account, name, type, spec, isConfigured } = this.definition;
    const renewedAt = clock.now();
    const lease = await takeSource(engine, { account, source: name, owner, seconds });
    if (lease === undefined) {
      // Either another request was faster, or there is no account any more.
      await engine.snapshots.fresh(account);
      return;
    }
    const caller = { account, actor: { type: 'source', id: name, name } as const };
    if (isConfigured) await recordSource(engine, caller, { id: name, type, spec });
    const stored = await findSource(engine, account, name);
    if (stored === undefined) throw new NotFound(`source ${name} not found`);
    this.#reported = '';
    this.#held = this.#start({ ...stored, lease, renewedAt, hinted });
  }

  #start(stored: {
    readonly lease: SourceLease;
    readonly renewedAt: number;
    readonly hinted: string | null;
    readonly generation: number;
    readonly suspended: boolean;
    readonly spec: SourceDefinition['spec'];
    readonly status: Parameters<typeof readStatus>[0];
  }): Held {
    const { engine, reader, version, clock, leaseSeconds, report } = this.#options;
    const { account, name, intervalMs, delayMs, holdsBack, noted } = this.definition;
    const { lease, renewedAt, hinted, generation } = stored;
    const suspended = isSourceSuspended(stored);
    const timing = { ...plainTiming, ...this.#options.timing, intervalMs };
    const reconciler = createReconciler({
      ...{ engine, reader, account, name, origin: this.#origin, lease, version, clock, report },
      ...(holdsBack === undefined ? {} : { holdsBack }),
      ...(noted === undefined ? {} : { noted }),
      ...{ status: readStatus(stored.status), slowMs: timing.slowMs },
      generation: () => this.#held?.generation ?? generation,
      nextRunAt: () => this.#nextRunAt(),
    });
    // Who takes over from another server begins at once.
    const delay = clock.now() - this.#createdAt < startMs ? delayMs : 0;
    // Before the loop runs, so that no reconcile begins under a lease that is not renewed.
    this.#options.leases?.hold(lease, leaseSeconds);
    const loop = runLoop({
      ...{ timing, delay, suspended, clock },
      reconcile: (trigger, fresh) => this.#reconcile(reconciler, trigger, fresh),
      ranHot: (trigger) => void this.#ranHot(reconciler, trigger).catch((error: unknown) => this.#report(error)),
    });
    const renewing = setInterval(() => void this.#renew(), (leaseSeconds * 1000) / 3);
    const unwatch = this.#origin.watch(() => loop.want('content'));
    // It may have been suspended, or resumed, while no server ran it.
    const status = readStatus(stored.status);
    if (isSo(status, 'Suspended') !== suspended) this.#note(reconciler, suspended);
    const asked = { requested: null, hinted, approved: false };
    return { lease, loop, reconciler, renewing, unwatch, renewedAt, generation, suspended, ...asked };
  }

  #note(reconciler: Reconciler, suspended: boolean): void {
    const what = suspended ? 'suspended' : 'resumed';
    reconciler.note({ what }).catch((error: unknown) => this.#report(error));
  }

  /** Does what is asked of the source. */
  #heed(held: Held, called: CalledSource): void {
    const { generation, requested, hinted, approved } = called;
    const suspended = isSourceSuspended(called);
    const isChanged = generation !== held.generation;
    held.generation = generation;
    if (suspended !== held.suspended) {
      held.suspended = suspended;
      if (suspended) held.loop.suspend();
      else held.loop.resume();
      this.#note(held.reconciler, suspended);
    } else if (isChanged) held.loop.want('settings');
    if (suspended) held.reconciler.remind().catch((error: unknown) => this.#report(error));
    const isHinted = hinted !== held.hinted;
    const isRequested = requested !== null && requested !== held.requested;
    const isApproved = approved && !held.approved;
    held.hinted = hinted;
    held.approved = approved;
    held.requested = requested ?? held.requested;
    if (isHinted) held.loop.want('hint');
    if (isApproved) held.loop.want('approval');
    if (isRequested) held.loop.want('request');
  }

  async #reconcile(reconciler: Reconciler, trigger: Trigger, fresh: (key: string) => boolean) {
    const requested = this.#held?.requested ?? null;
    const conclusion = await reconciler.reconcile(fresh, { isProbe: trigger === 'probe' });
    if (conclusion.result === 'failed' && conclusion.isLost === true) {
      // Looked at now rather than when it is renewed next, and the request is left to the next holder.
      void this.#renew();
      return conclusion;
    }
    if (trigger !== 'request' || requested === null) return conclusion;
    const { account, name } = this.definition;
    const { engine } = this.#options;
    // Left unmarked, the request is handled again by the next server that runs the source.
    await markRequestHandled(engine, account, name, requested).catch((error: unknown) => this.#report(error));
    return conclusion;
  }

  async #ranHot(reconciler: Reconciler, trigger: Trigger): Promise<void> {
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
    // A database that is away says nothing; once its time is over the lease is not relied on.
    const isKept = await keepSource(engine, held.lease, leaseSeconds).catch(() => undefined);
    if (isKept === true) held.renewedAt = now;
    const isOver = isKept === false || clock.now() - held.renewedAt >= leaseSeconds * 1000;
    if (isOver && !this.#stopped && this.#changing === undefined) this.#change(() => this.#lose(held));
  }

  async #lose(held: Held): Promise<void> {
    const { name } = this.definition;
    const { engine, report } = this.#options;
    const why = await explainLostSource(engine, held.lease).catch(
      () => 'its lease could not be renewed, because the database is away; its next holder goes on',
    );
    report({ level: 'warn', message: `source ${name}: ${why}` });
    await this.#end(held);
  }

  /** Ends the loop; the lease is kept while something is still under way. */
  async #end(held: Held): Promise<void> {
    await held.unwatch();
    await held.loop.stop();
    clearInterval(held.renewing);
    this.#options.leases?.letGo(held.lease);
    this.#held = undefined;
    this.#options.engine.observer.report({ what: 'left', account: held.lease.account, source: this.definition.name });
  }

  #nextRunAt(): string | undefined {
    const dueIn = this.#held?.loop.dueIn();
    return dueIn === undefined ? undefined : new Date(Date.parse(this.#options.engine.now()) + dueIn).toISOString();
  }

  /** Reports an error, once while it lasts. */
  #report(error: unknown): void {
    const { account, name } = this.definition;
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      error instanceof NotFound ? goneMessage(name, account) : `source ${name}: ${reason}; it is tried again`;
    if (message !== this.#reported) this.#options.report({ level: 'error', message });
    this.#reported = message;
  }
}
