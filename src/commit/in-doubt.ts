import { setTimeout as delay } from 'node:timers/promises';
import type { CommitInput } from '../db/commit/commit.ts';
import type { CommitIdentity, CommitOutcome } from '../db/commit/revisions.ts';
import { ReadOnlyDatabase } from '../db/unusable-database.ts';
import { Conflict, Internal, Unavailable } from '../model/errors.ts';

/** Maximum number of times that a change is planned when other servers are faster. */
export const maxAttempts = 20;

/** Time for which an unresponsive database is queried about the outcome of a write, in milliseconds. */
const timeoutMs = 25_000;

/** Pauses before each query, in milliseconds. The last one repeats. */
const retryDelaysMs = [0, 50, 100, 200, 400, 800, 1500, 2500];

/**
 * Finds out whether a commit was written whose answer was lost. While the account is not past the revision on which the
 * commit was planned, the statement may still be running, so `again` sends the same statement. Whichever of the two
 * arrives first advances the account, and the other fails; both have the same ids and the same generated values.
 * Returns `written`, `moved` when the commit was not written and never will be, or another result of `again`. Throws
 * `Unavailable` (`inDoubt`) when the outcome cannot be found out.
 */
export async function settleCommit<Result>(
  readOutcomes: () => Promise<readonly CommitOutcome[]>,
  { requestId, cause }: { readonly requestId: string; readonly cause: Unavailable },
  again: () => Promise<Result>,
): Promise<Result | 'written' | 'moved'> {
  const settled = async (): Promise<Result | 'written' | 'moved'> => {
    const outcomes = await readOutcomes();
    // A transaction that is written in one account is written in all its accounts.
    if (outcomes.includes('written')) return 'written';
    if (outcomes.some((outcome) => outcome !== 'open')) return 'moved';
    return resend(again, async () => ((await readOutcomes()).includes('written') ? 'written' : undefined));
  };
  return retryWhileTransient(requestId, cause, settled);
}

/**
 * Returns the mark by which the commit of an account is recognised. Throws `Internal` when the commit has no revision.
 */
export function identifyCommit({ base: { account, revision: base }, revisions: [first] }: CommitInput): CommitIdentity {
  if (first === undefined) throw new Internal('a commit without revisions was written');
  return { account, base, requestId: first.requestId, at: first.at };
}

/**
 * Executes a write that makes no revision and may be repeated, until its outcome is known. `again` is true when an
 * earlier attempt may have been executed. Throws `Unavailable` (`inDoubt`) when the outcome cannot be found out.
 */
export async function writeUntilKnown<Value>(
  { requestId }: { readonly requestId: string },
  write: (again: boolean) => Promise<Value>,
): Promise<Value> {
  try {
    return await write(false);
  } catch (error) {
    if (!isInDoubt(error)) throw error;
    return await retryWhileTransient(requestId, error, () => write(true));
  }
}

/**
 * Stores a row once, under a unique id: when the answer is lost, the row shows whether it was stored. `find` returns
 * the result of `store` when the row exists, and `undefined` when it does not.
 */
export async function storeOnce<Value>(
  request: { readonly requestId: string },
  find: () => Promise<Value | undefined>,
  store: () => Promise<Value>,
): Promise<Value> {
  return writeUntilKnown(request, async (again) => {
    if (!again) return store();
    return (await find()) ?? resend(store, find);
  });
}

/**
 * Runs work that the answer to a completed write needs, such as reading it back. Retries when the connection breaks,
 * because the write itself did not fail. `work` may run twice. Throws `ReadOnlyDatabase` at once: the database may accept
 * no writes for long, and the answer, which is complete without what `work` writes, must not wait for that.
 */
export async function retryAfterWrite<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unavailable) || error instanceof ReadOnlyDatabase) throw error;
    const isRetried = (next: unknown) => isTransient(next) && !(next instanceof ReadOnlyDatabase);
    return await retryWhileTransient(undefined, error, work, isRetried);
  }
}

/** Returns whether the connection broke before the database reported the outcome of a write. */
export function isInDoubt(error: unknown): error is Unavailable {
  return error instanceof Unavailable && error.inDoubt;
}

/**
 * Sends a write again whose earlier attempt may still be running. When the earlier attempt arrives first after all,
 * this one fails (its ids exist) or writes nothing. The result of this attempt therefore counts, unless `find` shows
 * that the write was executed.
 */
async function resend<Result, Found>(
  send: () => Promise<Result>,
  find: () => Promise<Found | undefined>,
): Promise<Result | Found> {
  const [second] = await Promise.allSettled([send()]);
  // This attempt must also have ended before the read: otherwise it could still write a row that was deleted after the
  // read.
  if (second.status === 'rejected' && isInDoubt(second.reason)) throw second.reason;
  const found = await find();
  if (found !== undefined) return found;
  if (second.status === 'rejected') throw second.reason;
  return second.value;
}

/**
 * Calls `ask` until it succeeds, for at most `timeoutMs`. Waits and retries after the errors that `isRetried` accepts.
 * An attempt in doubt is ended first, so that it cannot be executed after `ask` has read.
 */
async function retryWhileTransient<Value>(
  requestId: string | undefined,
  cause: Unavailable,
  ask: () => Promise<Value>,
  isRetried = isTransient,
): Promise<Value> {
  const begun = performance.now();
  let { endAttempt } = cause;
  let last: unknown = cause;
  for (let turn = 0; performance.now() - begun < timeoutMs; turn++) {
    await delay(retryDelaysMs[Math.min(turn, retryDelaysMs.length - 1)]);
    try {
      await endAttempt?.();
      endAttempt = undefined;
      return await ask();
    } catch (error) {
      if (!isRetried(error)) throw error;
      last = error;
      if (isInDoubt(error)) endAttempt = error.endAttempt;
    }
  }
  throw new Unavailable(
    `the connection to the database broke during the write, and the database ${stateAfter(last)}; whether the write happened is unknown: read before trying again`,
    { cause, inDoubt: true, ...(requestId === undefined ? {} : { requestId }) },
  );
}

/** Returns what the last failure shows about the database. */
function stateAfter(failure: unknown): string {
  return failure instanceof ReadOnlyDatabase ? 'accepts no writes since then' : 'does not answer';
}

function isTransient(error: unknown): boolean {
  return error instanceof Unavailable || (error instanceof Conflict && error.reason === 'locked');
}
