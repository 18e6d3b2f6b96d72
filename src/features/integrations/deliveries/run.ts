import type { NextBatch } from './batch.ts';
import type { Later, Verdict } from './target.ts';

/** How batches are sent one after the other. */
export interface RunOptions {
  send(batch: NextBatch): Promise<Verdict>;
  /** The batch behind a cursor. */
  next(cursor: number): NextBatch | Later;
  /** So long after the first batch no other one begins. */
  readonly mostMs: number;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface Run {
  /** The last batch that was accepted. */
  readonly accepted?: NextBatch;
  readonly note?: string | undefined;
  /** The batch that was not, which ended the run. */
  readonly refusal?: Refusal;
}

/** A batch that was not accepted, and why. */
export interface Refusal {
  readonly batch: NextBatch;
  readonly verdict: Exclude<Verdict, { readonly outcome: 'accepted' }>;
}

/**
 * Sends a batch, and the single events behind it for as long as a run may last: to note each of them would cost more than to
 * send it. A worker that ends in the middle lets the next one repeat the run.
 */
export async function sendRun(options: RunOptions, first: NextBatch): Promise<Run> {
  const { next, mostMs, signal } = options;
  const until = performance.now() + mostMs;
  let run = await sendOne(options, first);
  while (run.refusal === undefined && performance.now() < until && !signal.aborted) {
    const batch = next(run.accepted?.cursor ?? first.cursor);
    if ('afterMs' in batch || batch.events.length !== 1) return run;
    run = { ...run, ...(await sendOne(options, batch)) };
  }
  return run;
}

async function sendOne({ send }: Pick<RunOptions, 'send'>, batch: NextBatch): Promise<Run> {
  const verdict = await send(batch);
  if (verdict.outcome !== 'accepted') return { refusal: { batch, verdict } };
  return { accepted: batch, ...(verdict.note === undefined ? {} : { note: verdict.note }) };
}
