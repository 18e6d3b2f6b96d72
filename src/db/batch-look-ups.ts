import { setImmediate as nextTurn } from 'node:timers/promises';
import { waitUntilSettled } from './wait-until-settled.ts';

/**
 * Maximum time that a look-up waits for the query before it, in milliseconds. A query that gets no answer delays the
 * next one by no more than this.
 */
const maxWaitMs = 20;

/**
 * Looks up values in batches. Values that are requested in one turn of the event loop share a query, and values that
 * arrive while a query runs share the next one. A query is sent only after its last value was requested, so that each
 * caller sees everything that was acknowledged before its request.
 */
export function createBatchedLookUp<Found>(
  read: (values: readonly string[]) => Promise<ReadonlyMap<string, Found>>,
): (value: string) => Promise<Found | undefined> {
  let pending: Set<string> | undefined;
  let next: Promise<ReadonlyMap<string, Found>>;
  let under: Promise<unknown> | undefined;
  const readAll = async (values: Set<string>): Promise<ReadonlyMap<string, Found>> => {
    if (under === undefined) await nextTurn();
    else await waitUntilSettled(under, maxWaitMs);
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
