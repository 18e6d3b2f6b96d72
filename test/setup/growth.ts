/** Work whose time is in proportion to its input stays below; ten times the input of quadratic work takes a hundred times. */
export const linear = 40;

/**
 * How many times as long work takes with ten times the input, both measured in turn and the best of several runs taken: what
 * else the machine does slows single runs, and never all of one size alone.
 */
export function growthOf(work: (size: number) => unknown, size: number): number {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // Until it is compiled, short work looks slow.
  for (let run = 0; run < 3; run++) work(size);
  for (let run = 0; run < 5; run++) {
    small = Math.min(
      small,
      timeOf(() => work(size)),
    );
    large = Math.min(
      large,
      timeOf(() => work(size * 10)),
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
