/** How many times as much input the larger one is. */
const times = 30;

/** Work whose time is in proportion to its input stays well below; quadratic work takes 900 times as long. */
export const linear = 250;

/**
 * How many times as long work takes with thirty times the input, both measured in turn and the best of several runs taken:
 * what else the machine does slows single runs, and never all of one size alone.
 */
export function growthOf(work: (size: number) => unknown, size: number): number {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < 5; run++) {
    small = Math.min(
      small,
      timeOf(() => work(size)),
    );
    large = Math.min(
      large,
      timeOf(() => work(size * times)),
    );
  }
  // Below the resolution of the clock nothing can be said, and nothing is slow.
  return large / Math.max(small, 0.05);
}

function timeOf(work: () => unknown): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}
