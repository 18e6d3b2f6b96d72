import type { NextBatch } from './batch.ts';
import type { Verdict, WaitForMore } from './target.ts';

/** Options of sending batches one after the other. */
export interface RunOptions {
  send(batch: NextBatch): Promise<Verdict>;
  /** Returns the batch behind a cursor. */
  next(cursor: number): NextBatch | WaitForMore;
  /** Time after the start of the run at which no further batch begins, in milliseconds. */
  readonly maxMs: number;
  readonly signal: AbortSignal;
}

/** Result of a run. */
export interface RunResult {
  /** Last batch that was accepted. */
  readonly accepted?: NextBatch;
  readonly note?: string | undefined;
  /** Batch that was not accepted, which ended the run. */
  readonly refusal?: Refusal;
}

/** A batch that was not accepted, and the reason. */
export interface Refusal {
  readonly batch: NextBatch;
  readonly verdict: Exclude<Verdict, { readonly outcome: 'accepted' }>;
}

/**
 * Sends a batch, and then batches of a single event for as long as a run may last: recording each of them would cost
 * more than sending it. After a worker that ends in the middle, the next worker repeats the run.
 */
export async function sendBatches(options: RunOptions, first: NextBatch): Promise<RunResult> {
  const { next, maxMs, signal } = options;
  const until = performance.now() + maxMs;
  let run = await sendOne(options, first);
  while (run.refusal === undefined && performance.now() < until && !signal.aborted) {
    const batch = next(run.accepted?.cursor ?? first.cursor);
    if ('afterMs' in batch || batch.events.length !== 1) return run;
    run = { ...run, ...(await sendOne(options, batch)) };
  }
  return run;
}

async function sendOne({ send }: Pick<RunOptions, 'send'>, batch: NextBatch): Promise<RunResult> {
  const verdict = await send(batch);
  if (verdict.outcome !== 'accepted') return { refusal: { batch, verdict } };
  return { accepted: batch, ...(verdict.note === undefined ? {} : { note: verdict.note }) };
}
