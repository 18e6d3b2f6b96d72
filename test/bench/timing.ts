/** Returns the median. Throws when there are no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error('nothing was measured');
  return middle;
}

/** Returns the time that the work takes, in milliseconds. */
export async function time(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Measures both sides in turns, because the load of the machine varies. Returns the medians. */
export async function inTurns(
  rounds: number,
  figure: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<{ readonly figure: number; readonly reference: number }> {
  const figures: number[] = [];
  const references: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    figures.push(await figure());
    references.push(await reference());
  }
  return { figure: median(figures), reference: median(references) };
}
