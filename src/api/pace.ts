import type { FastifyInstance } from 'fastify';
import { pathOf } from './other-methods.ts';

/** How many requests of machines are begun in one turn of the event loop: some milliseconds of work. */
const mostAtOnce = 16;

/** Admits machines a few at a time, so that thousands that connect at once delay no other requests. */
export function paceMachines(app: FastifyInstance): void {
  const turn = createTurns(mostAtOnce);
  app.addHook('onRequest', async (request) => {
    if (pathOf(request)?.startsWith('/agent/') === true) await turn();
  });
}

/** Resolves at once for the first so many of a turn of the event loop, for the others in the turns behind it, in order. */
export function createTurns(most: number): () => Promise<void> | undefined {
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
