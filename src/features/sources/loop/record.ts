import type { Engine } from '../../../commit/engine.ts';
import { nextStatus, type SourceEvent } from '../../../model/sources/conditions.ts';
import { eventsBetween } from '../../../model/sources/source-events.ts';
import { isSameStatus, type SourceStatus } from '../../../model/sources/status.ts';
import type { SourceLease } from '../leases.ts';
import { recordStatus } from '../sources.ts';

/** Options for recording the status of a source. */
export interface RecordOptions {
  readonly engine: Engine;
  readonly account: string;
  readonly name: string;
  readonly lease: SourceLease;
  /** Status that was recorded before. */
  readonly status: SourceStatus;
  readonly slowMs: number;
  /** Called after a changed status was recorded. */
  readonly onStatusRecorded?: () => void;
  /** Returns the current generation of the source's settings. */
  generation(): number;
  /**
   * Returns the time of the next reconcile by the system clock, in ISO 8601. Returns `undefined` when the loop does not
   * wait for a time.
   */
  nextRunAt(): string | undefined;
}

/** Creates the record of a source's status. Writes are made one after the other, and only when something changed. */
export function createStatusRecord(options: RecordOptions) {
  const { engine, account, name, lease, slowMs } = options;
  let status = options.status;
  // Status that was written last. A status that could not be written still counts as a change.
  let written = options.status;
  let writing: Promise<unknown> = Promise.resolve();
  const write = async (event: SourceEvent): Promise<void> => {
    const nextRunAt = options.nextRunAt();
    const next = {
      ...nextStatus(status, event, { now: engine.now(), generation: options.generation() }),
      ...(nextRunAt === undefined ? {} : { nextRunAt }),
    };
    status = next;
    const open = isLoopStopped(event);
    if (open !== undefined) engine.observer.report({ what: 'breaker', account, source: name, open });
    if (isSameStatus(written, next)) return;
    await recordStatus(engine, account, name, next, { lease, codes: eventsBetween(written, next) });
    written = next;
    options.onStatusRecorded?.();
  };
  const note = (event: SourceEvent): Promise<void> => {
    const written = writing.then(() => write(event));
    // The caller gets the error. The next write must not fail because of it.
    writing = written.catch(() => undefined);
    return written;
  };
  return {
    note,
    status: () => status,
    /**
     * Runs a reconcile. If it takes longer than `slowMs`, the status shows that it is running, unless `isQuiet` is
     * true.
     */
    async during<Value>(work: () => Promise<Value>, { isQuiet }: { readonly isQuiet: boolean }): Promise<Value> {
      if (isQuiet) return await work();
      const slow = setTimeout(() => void note({ what: 'running' }).catch(() => undefined), slowMs);
      try {
        return await work();
      } finally {
        clearTimeout(slow);
      }
    },
  };
}

/** Whether the loop of the source is stopped because it ran hot. `undefined` when the event does not show it. */
function isLoopStopped(event: SourceEvent): boolean | undefined {
  if (event.what === 'hot') return true;
  if (event.what === 'refused') return false;
  return event.what === 'applied' ? event.isHot === true : undefined;
}
