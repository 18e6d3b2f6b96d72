import type { HourRow } from '../../db/logs/feed-read.ts';
import type { Range } from '../../db/logs/feeds.ts';

const hourMs = 3_600_000;

/** Number of records in an hour, or in the part of an hour that is within a range. */
export interface HourRange extends Range {
  readonly all: number;
  readonly selected: number;
  /**
   * Whether only a part of the hour is in the range. Its counts are those of the whole hour, so they are too high until
   * they are counted again.
   */
  readonly isCut: boolean;
}

/** Returns the hours within a range, in the given order (newest first). The hours at its ends are cut. */
export function hourRangesOf(hours: readonly HourRow[], { from, to }: Range): readonly HourRange[] {
  return hours.flatMap(({ hour, all, selected }) => {
    const [begin, end] = [hour.getTime(), hour.getTime() + hourMs - 1];
    if (end < from.getTime() || begin > to.getTime()) return [];
    const isCut = begin < from.getTime() || end > to.getTime();
    const inside = { from: new Date(Math.max(begin, from.getTime())), to: new Date(Math.min(end, to.getTime())) };
    return [{ ...inside, all, selected, isCut }];
  });
}

/**
 * The hours that contain the requested records. `offset` is the number of selected records in them that precede the
 * first requested record.
 */
export interface OffsetRange extends Range {
  readonly offset: number;
  readonly all: number;
  readonly selected: number;
}

/**
 * Returns the hours that contain the selected records `offset` to `offset + limit`, counted in the order of the list.
 * `undefined` when there are none.
 */
export function rangeAtOffset(
  hourRanges: readonly HourRange[],
  offset: number,
  limit: number,
): OffsetRange | undefined {
  let before = 0;
  let first = 0;
  for (const hourRange of hourRanges) {
    if (before + hourRange.selected > offset) break;
    before += hourRange.selected;
    first += 1;
  }
  const chosen: HourRange[] = [];
  let selected = 0;
  for (const hourRange of hourRanges.slice(first)) {
    if (selected >= offset - before + limit) break;
    selected += hourRange.selected;
    chosen.push(hourRange);
  }
  if (chosen.length === 0) return undefined;
  const times = chosen.flatMap(({ from, to }) => [from.getTime(), to.getTime()]);
  const all = sumOf(chosen, 'all');
  return {
    from: new Date(Math.min(...times)),
    to: new Date(Math.max(...times)),
    offset: offset - before,
    all,
    selected,
  };
}

/** Returns the range of the newest hours that together have at most `most` matching records, but at least one hour. */
export function newestRangeWithin(
  hourRanges: readonly HourRange[],
  fits: (of: HourRange) => number,
  most: number,
): Range {
  let sum = 0;
  let from = hourRanges[0]?.from ?? new Date(0);
  for (const [at, hourRange] of hourRanges.entries()) {
    sum += fits(hourRange);
    if (at > 0 && sum > most) break;
    from = hourRange.from;
  }
  return { from, to: hourRanges[0]?.to ?? new Date(0) };
}

/** Returns `count` times that are spread over the records of the hours. */
export function spreadTimes(hourRanges: readonly HourRange[], count: number): readonly Date[] {
  const total = sumOf(hourRanges, 'all');
  const moments: Date[] = [];
  let before = 0;
  for (const { from, to, all } of hourRanges) {
    const length = to.getTime() - from.getTime();
    while (moments.length < count) {
      // The spacing is uneven, so that events that happen at every full hour do not coincide with all of the times, or
      // with none.
      const offset = ((moments.length + 0.2 + 0.6 * ((moments.length * 0.618) % 1)) / count) * total;
      if (offset >= before + all) break;
      moments.push(new Date(to.getTime() - ((offset - before) / all) * length));
    }
    before += all;
  }
  return moments;
}

/** Returns the sum of the counts `all` or `selected`. */
export function sumOf(hourRanges: readonly HourRange[], name: 'all' | 'selected'): number {
  return hourRanges.reduce((sum, hourRange) => sum + hourRange[name], 0);
}
