/** Runs the work and returns its longest step, as a share of the processor time of all steps. */
function longestShare<Result>(work: Generator<undefined, Result>): { readonly share: number; readonly result: Result } {
  let [longest, total] = [0, 0];
  for (;;) {
    const start = process.threadCpuUsage();
    const step = work.next();
    const { user, system } = process.threadCpuUsage(start);
    longest = Math.max(longest, user + system);
    total += user + system;
    if (step.done === true) return { share: longest / total, result: step.value };
  }
}

/**
 * Returns the first of three tries whose longest step is below the limit, or otherwise the try with the smallest share.
 * Repeated because a garbage collection may fall into any step.
 */
export function leastShare<Result>(begin: () => Generator<undefined, Result>, below: number) {
  let least = longestShare(begin());
  for (let again = 0; again < 2 && least.share >= below; again += 1) {
    const other = longestShare(begin());
    if (other.share < least.share) least = other;
  }
  return least;
}

/**
 * Returns the number of steps of some work. For work of only a few milliseconds, the processor clock is too coarse to
 * measure shares.
 */
export function countSteps(work: Generator<undefined, unknown>): number {
  let count = 1;
  while (work.next().done !== true) count += 1;
  return count;
}
