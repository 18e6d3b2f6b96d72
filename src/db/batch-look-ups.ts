import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a look-up waits for the one before it, in milliseconds: one that gets no answer delays none for longer. */
const patience = 20;

/**
 * Looks values up together that are asked for in one turn of the event loop, and those that arrive while a query is under
 * way with the next: it leaves behind the last of them, so that each sees what was acknowledged before it came.
 */
export function batchLookUps<Found>(
  read: (values: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (value: string) => Promise<Found | undefined> {
  let pending: Set<string> | undefined;
  let next: Promise<ReadonlyMap<string, Found>>;
  let under: Promise<unknown> | undefined;
  const readAll = async (values: Set<string>): Promise<ReadonlyMap<string, Found>> => {
    if (under === undefined) await nextTurn();
    else await settled(under, patience);
    pending = undefined;
    const answer = read([...values]);
    under = answer;
    const over = (): void => {
      if (under === answer) under = undefined;
    };
    answer.then(over, over);
    return await answer;
  };
  return async (value) => {
    if (pending === undefined) {
      pending = new Set();
      next = readAll(pending);
    }
    pending.add(value);
    return (await next).get(value);
  };
}

/** Resolves when the work has ended, however it did, or when the time is over. */
function settled(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(end, end);
  });
}
