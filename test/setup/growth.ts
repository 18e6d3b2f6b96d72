/** How many times as much input the larger one is. */
const times = 30;

/** Work in proportion to its input stays below, with what caches and the collector add to large inputs; quadratic work takes 900 times as long. */
export const linear = 450;

/**
 * How many times as much CPU time work takes with thirty times the input: the best of several runs of both, measured in
 * turn. Time of the thread alone counts, so neither preemption nor other threads are taken for growth; where what is left
 * (caches, the collector of this thread) still looks like more than `linear`, it is measured again.
 */
export function growthOf(work: (size: number) => unknown, size: number): number {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < 20 && (run < 3 || large / Math.max(small, resolution) >= linear); run++) {
    small = Math.min(
      small,
      cpuTimeOf(() => work(size)),
    );
    large = Math.min(
      large,
      cpuTimeOf(() => work(size * times)),
    );
  }
  // Below the resolution of the clock nothing can be said, and nothing is slow.
  return large / Math.max(small, resolution);
}

/** In milliseconds. */
const resolution = 0.05;

/** Milliseconds of this thread. */
function cpuTimeOf(work: () => unknown): number {
  const begin = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(begin);
  return (user + system) / 1000;
}
