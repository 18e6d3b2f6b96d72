import { setImmediate } from 'node:timers';

/** Lets work in at a pace: so much of the time of the event loop, and so many at once that are not through yet. */
export interface Admission {
  /** Runs the work when its turn comes; it says whether it is through, otherwise `release` is called when it is. */
  admit(work: () => boolean): void;
  release(): void;
  /** How many wait. */
  readonly waiting: number;
}

/** How long one turn of the event loop may be taken. */
const turnMs = 10;

/** Creates an admission with room for this many at once. */
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
