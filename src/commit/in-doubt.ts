import { setTimeout as delay } from 'node:timers/promises';
import type { CommitInput } from '../db/commit/commit.ts';
import type { CommitMark, CommitOutcome } from '../db/commit/revisions.ts';
import { Conflict, Internal, Unavailable } from '../model/errors.ts';

/** How often something is planned again when other servers were faster. */
export const attempts = 20;

/** For how long a database that does not answer is asked what became of a write, in milliseconds. */
const patience = 25_000;

/** The pause before each question to it, in milliseconds; the last one repeats. */
const pauses = [0, 50, 100, 200, 400, 800, 1500, 2500];

/**
 * Finds out whether a commit was written whose answer was lost. While the account is at the revision on which it was
 * planned, the statement may still be on its way, so `again` sends the same one: whichever of them comes first moves
 * the account and the other one fails, and both have the same ids and the same generated values. Returns `written`,
 * `moved` when it never happened and never will, or what else `again` returns. Throws `Unavailable` (`inDoubt`) when
 * that cannot be found out.
 */
export async function settleCommit<Result>(
  readOutcomes: () => Promise<readonly CommitOutcome[]>,
  { requestId, cause }: { readonly requestId: string; readonly cause: Unavailable },
  again: () => Promise<Result>,
): Promise<Result | 'written' | 'moved'> {
  const settled = async (): Promise<Result | 'written' | 'moved'> => {
    const outcomes = await readOutcomes();
    // What is written in one account is written in all of the transaction.
    if (outcomes.includes('written')) return 'written';
    if (outcomes.some((outcome) => outcome !== 'open')) return 'moved';
    return resend(again, async () => ((await readOutcomes()).includes('written') ? 'written' : undefined));
  };
  return whilePassing(requestId, cause, settled);
}

/** By what the commit of an account is recognised. Throws `Internal` when it writes no revision. */
export function markOf({ base: { account, revision: base }, revisions: [first] }: CommitInput): CommitMark {
  if (first === undefined) throw new Internal('a commit without revisions was written');
  return { account, base, requestId: first.requestId, at: first.at };
}

/**
 * Executes a write that makes no revision and may be repeated, until its outcome is known. `again` says that an earlier
 * attempt may have been executed. Throws `Unavailable` (`inDoubt`) when that cannot be found out.
 */
export async function writeUntilKnown<Value>(
  { requestId }: { readonly requestId: string },
  write: (again: boolean) => Promise<Value>,
): Promise<Value> {
  try {
    return await write(false);
  } catch (error) {
    if (!isInDoubt(error)) throw error;
    return await whilePassing(requestId, error, () => write(true));
  }
}

/**
 * Stores something once, under an id that nothing else has: when the answer is lost, the row shows whether it was
 * stored. `find` returns what `store` would when the row is there, and `undefined` when it is not.
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
 * Does what the answer to a write needs that has happened, such as reading it back: it is no failure of the write that a
 * connection breaks now. `work` may be done twice.
 */
export async function onceWritten<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return await whilePassing(undefined, error, work);
  }
}

/** Whether the connection died before the database said what became of a write. */
export function isInDoubt(error: unknown): error is Unavailable {
  return error instanceof Unavailable && error.inDoubt;
}

/**
 * Sends a write once more whose earlier attempt may still be running. When that one comes first after all, this one fails
 * (its ids are there) or writes nothing, so unless `find` shows that it was written, what this attempt says counts.
 */
async function resend<Result, Found>(
  send: () => Promise<Result>,
  find: () => Promise<Found | undefined>,
): Promise<Result | Found> {
  const [second] = await Promise.allSettled([send()]);
  // It has to be ended as well before anything is read: it could still write what was deleted meanwhile.
  if (second.status === 'rejected' && isInDoubt(second.reason)) throw second.reason;
  const found = await find();
  if (found !== undefined) return found;
  if (second.status === 'rejected') throw second.reason;
  return second.value;
}

/**
 * Asks until there is an answer, as long as patience lasts; what passes by itself is waited for. An attempt in doubt is ended
 * first, so that it cannot happen after what is asked next.
 */
async function whilePassing<Value>(
  requestId: string | undefined,
  cause: Unavailable,
  ask: () => Promise<Value>,
): Promise<Value> {
  const begun = performance.now();
  let { endAttempt } = cause;
  for (let turn = 0; performance.now() - begun < patience; turn++) {
    await delay(pauses[Math.min(turn, pauses.length - 1)]);
    try {
      await endAttempt?.();
      endAttempt = undefined;
      return await ask();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (isInDoubt(error)) endAttempt = error.endAttempt;
    }
  }
  throw new Unavailable(
    'the connection to the database broke while this was written, and it does not answer; whether it happened is unknown: read before trying again',
    { cause, inDoubt: true, ...(requestId === undefined ? {} : { requestId }) },
  );
}

function isPassing(error: unknown): boolean {
  return error instanceof Unavailable || (error instanceof Conflict && error.reason === 'locked');
}
