import type { Engine } from '../../../commit/engine.ts';
import { nextStatus, type SourceEvent } from '../../../model/sources/conditions.ts';
import { eventsBetween } from '../../../model/sources/source-events.ts';
import { isSameStatus, type SourceStatus } from '../../../model/sources/status.ts';
import type { SourceLease } from '../leases.ts';
import { recordStatus } from '../sources.ts';

/** The source whose status is kept. */
export interface RecordOptions {
  readonly engine: Engine;
  readonly account: string;
  readonly name: string;
  readonly lease: SourceLease;
  /** How it fared before. */
  readonly status: SourceStatus;
  readonly slowMs: number;
  /** Something was recorded. */
  readonly noted?: () => void;
  /** The present generation of its settings. */
  generation(): number;
  /** When the next reconcile is due, on the clock on the wall. */
  nextRunAt(): string | undefined;
}

/** Keeps the status of a source; writes follow each other, and only when there is news. */
export function createRecord(options: RecordOptions) {
  const { engine, account, name, lease, slowMs } = options;
  let status = options.status;
  // What could not be written is news until it is.
  let written = options.status;
  let writing: Promise<unknown> = Promise.resolve();
  const write = async (event: SourceEvent): Promise<void> => {
    const nextRunAt = options.nextRunAt();
    const next = {
      ...nextStatus(status, event, { now: engine.now(), generation: options.generation() }),
      ...(nextRunAt === undefined ? {} : { nextRunAt }),
    };
    status = next;
    const open = isStopped(event);
    if (open !== undefined) engine.observer.report({ what: 'breaker', account, source: name, open });
    if (isSameStatus(written, next)) return;
    await recordStatus(engine, account, name, next, { lease, codes: eventsBetween(written, next) });
    written = next;
    options.noted?.();
  };
  const note = (event: SourceEvent): Promise<void> => {
    const written = writing.then(() => write(event));
    // The caller gets the error; the next write does not depend on it.
    writing = written.catch(() => undefined);
    return written;
  };
  return {
    note,
    status: () => status,
    /** Runs a reconcile; the status says that it is under way once it takes long, unless `isQuiet`. */
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

/** Whether the loop of the source is stopped for running hot, as far as an event says. */
function isStopped(event: SourceEvent): boolean | undefined {
  if (event.what === 'hot') return true;
  if (event.what === 'refused') return false;
  return event.what === 'applied' ? event.isHot === true : undefined;
}
