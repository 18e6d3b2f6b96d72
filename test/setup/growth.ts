/** Size of the larger input, as a multiple of the smaller one. */
const times = 30;

/**
 * Upper bound for work that grows in proportion to its input, including the cost of caches and garbage collection for
 * large inputs. Quadratic work takes 900 times as long.
 */
export const linear = 450;

/**
 * Returns by which factor the CPU time of `work` grows when its input is 30 times as large: the best of several runs of
 * each size, measured in turn. Only the CPU time of this thread counts, so preemption and other threads do not distort
 * the result. Measures again while the factor is not below `linear`, because caches and the garbage collector of this
 * thread may still distort it.
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
  // Times below the resolution of the clock count as the resolution: such work is not slow.
  return large / Math.max(small, resolution);
}

/** Resolution of the clock, in milliseconds. */
const resolution = 0.05;

/** Returns the CPU time that `work` takes in this thread, in milliseconds. */
function cpuTimeOf(work: () => unknown): number {
  const begin = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(begin);
  return (user + system) / 1000;
}
