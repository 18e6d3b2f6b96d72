/** The integers from `start` to `end`, both included. In a list, intervals are sorted and neither overlap nor touch. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Returns the number of integers in the intervals. */
export function countNumbers(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { start, end }) => sum + end - start + 1, 0);
}

/** Returns the union of intervals in any order: sorted, with touching intervals merged. */
export function mergeIntervals(intervals: readonly Interval[]): readonly Interval[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of [...intervals].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end + 1) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** Returns the numbers of `from` that are not in `taken`. */
export function subtractIntervals(from: readonly Interval[], taken: readonly Interval[]): readonly Interval[] {
  const left: Interval[] = [];
  let at = 0;
  for (const { start, end } of from) {
    let next = start;
    for (let hole = taken[at]; hole !== undefined && hole.end < start; hole = taken[at]) at++;
    for (let look = at, hole = taken[look]; hole !== undefined && hole.start <= end; hole = taken[++look]) {
      if (hole.start > next) left.push({ start: next, end: hole.start - 1 });
      next = hole.end + 1;
    }
    if (next <= end) left.push({ start: next, end });
  }
  return left;
}

/** Returns the numbers that are in both lists. */
export function intersectIntervals(one: readonly Interval[], other: readonly Interval[]): readonly Interval[] {
  return subtractIntervals(one, subtractIntervals(one, other));
}

/**
 * Takes `count` numbers: from the lowest interval that contains enough of them, else from several intervals, lowest
 * first. Returns `undefined` when there are not enough numbers.
 */
export function takeNumbers(intervals: readonly Interval[], count: number): readonly Interval[] | undefined {
  const run = intervals.find(({ start, end }) => end - start + 1 >= count);
  if (run !== undefined) return [{ start: run.start, end: run.start + count - 1 }];
  const pieces: Interval[] = [];
  let missing = count;
  for (const { start, end } of intervals) {
    const taken = Math.min(missing, end - start + 1);
    pieces.push({ start, end: start + taken - 1 });
    missing -= taken;
    if (missing === 0) return pieces;
  }
  return undefined;
}
