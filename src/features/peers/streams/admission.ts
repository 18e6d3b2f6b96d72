import { setImmediate } from 'node:timers';

/**
 * Starts work at a limited pace: for a limited time in each turn of the event loop, and with a limited number of
 * unfinished works.
 */
export interface Admission {
  /**
   * Runs the work when its turn comes. The work returns whether it is finished; otherwise `release` must be called when
   * it is.
   */
  admit(work: () => boolean): void;
  release(): void;
  /** Number of works that wait. */
  readonly waiting: number;
}

/** Maximum time that the works take in one turn of the event loop, in milliseconds. */
const turnMs = 10;

/** Creates an admission. `room` is the maximum number of unfinished works. */
export function createAdmission(room: number): Admission {
  const queue: (() => boolean)[] = [];
  let next = 0;
  let inside = 0;
  let scheduled = false;
  const run = (): void => {
    scheduled = false;
    const until = performance.now() + turnMs;
    while (next < queue.length && inside < room && performance.now() < until) {
      const work = queue[next] as () => boolean;
      next += 1;
      if (!work()) inside += 1;
    }
    if (next === queue.length) {
      queue.length = 0;
      next = 0;
    }
    schedule();
  };
  const schedule = (): void => {
    if (scheduled || next === queue.length || inside >= room) return;
    scheduled = true;
    setImmediate(run);
  };
  return {
    admit(work) {
      queue.push(work);
      schedule();
    },
    release() {
      inside -= 1;
      schedule();
    },
    get waiting() {
      return queue.length - next;
    },
  };
}
