import type { FastifyInstance } from 'fastify';
import { pathOf } from './other-methods.ts';

/** Maximum number of agent requests that begin in one turn of the event loop. They take some milliseconds. */
const maxRequestsPerTurn = 16;

/**
 * Admits a few agent requests at a time, so that thousands of agents that connect at once do not delay other requests.
 */
export function paceAgents(app: FastifyInstance): void {
  const turn = createTurnLimiter(maxRequestsPerTurn);
  app.addHook('onRequest', (request, _reply, next) => {
    const wait = pathOf(request)?.startsWith('/agent/') === true ? turn() : undefined;
    if (wait === undefined) next();
    else void wait.then(() => next());
  });
}

/**
 * Returns a function for each request to call. It returns `undefined` for the first `most` calls in a turn of the event
 * loop, and for later calls a promise that resolves in a later turn, in order.
 */
export function createTurnLimiter(most: number): () => Promise<void> | undefined {
  const queue: (() => void)[] = [];
  let [next, begun, isScheduled] = [0, 0, false];
  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(run);
  };
  const run = (): void => {
    isScheduled = false;
    const last = Math.min(queue.length, next + most);
    begun = last - next;
    for (; next < last; next++) queue[next]?.();
    if (next === queue.length) [queue.length, next] = [0, 0];
    if (begun > 0) schedule();
  };
  return () => {
    schedule();
    if (begun < most && queue.length === 0) {
      begun += 1;
      return undefined;
    }
    return new Promise((resolve) => queue.push(resolve));
  };
}
