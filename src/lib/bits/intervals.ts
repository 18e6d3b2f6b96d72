/** Whole numbers from `start` to `end`, both included. Lists of them are sorted and do not touch each other. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** How many numbers there are. */
export function countNumbers(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { start, end }) => sum + end - start + 1, 0);
}

/** The union of any intervals: sorted, joined where they touch. */
export function joinIntervals(intervals: readonly Interval[]): readonly Interval[] {
  const joined: { start: number; end: number }[] = [];
  for (const { start, end } of [...intervals].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last.end + 1) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** The numbers of `from` that are not in `taken`. */
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

/** The numbers that are in both. */
export function intersectIntervals(one: readonly Interval[], other: readonly Interval[]): readonly Interval[] {
  return subtractIntervals(one, subtractIntervals(one, other));
}

/**
 * So many of the numbers: the lowest run that holds them all, else pieces from the lowest on. `undefined` when there are
 * not enough.
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
