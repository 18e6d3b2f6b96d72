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

/**
 * Measures both sides in turns, because the load of the machine varies. Returns the figures of the round with the median
 * ratio: the two sides of a round are measured one after the other, so a slow minute slows both of them.
 */
export async function inTurns(
  rounds: number,
  figure: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<{ readonly figure: number; readonly reference: number }> {
  const measured: { readonly figure: number; readonly reference: number }[] = [];
  for (let round = 0; round < rounds; round += 1)
    measured.push({ figure: await figure(), reference: await reference() });
  const ratio = (one: { readonly figure: number; readonly reference: number }) => one.figure / one.reference;
  const middle = median(measured.map(ratio));
  const found = measured.find((one) => ratio(one) === middle);
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}
