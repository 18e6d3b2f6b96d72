/** The longest step of some work, as a share of the processor time of all of it. */
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

/** The first of three tries that stays below, or the least: a collection of garbage falls into one step or another. */
export function leastShare<Result>(begin: () => Generator<undefined, Result>, below: number) {
  let least = longestShare(begin());
  for (let again = 0; again < 2 && least.share >= below; again += 1) {
    const other = longestShare(begin());
    if (other.share < least.share) least = other;
  }
  return least;
}

/** In how many steps some work is done: of work that takes a few milliseconds only, the clock of the processor says too little. */
export function countSteps(work: Generator<undefined, unknown>): number {
  let count = 1;
  while (work.next().done !== true) count += 1;
  return count;
}
