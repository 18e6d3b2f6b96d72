import type { HourRow } from '../../db/logs/feed-read.ts';
import type { Range } from '../../db/logs/feeds.ts';

/** An hour in milliseconds. */
const hourMs = 3_600_000;

/** How many records a stretch of time has: an hour, or what of it lies within a range. */
export interface Stretch extends Range {
  readonly all: number;
  readonly wanted: number;
  /** Only a part of its hour is in the range, so the counts are too high until they are counted anew. */
  readonly isCut: boolean;
}

/** The hours within a range, newest first, cut at its ends. */
export function stretchesOf(hours: readonly HourRow[], { from, to }: Range): readonly Stretch[] {
  return hours.flatMap(({ hour, all, wanted }) => {
    const [begin, end] = [hour.getTime(), hour.getTime() + hourMs - 1];
    if (end < from.getTime() || begin > to.getTime()) return [];
    const isCut = begin < from.getTime() || end > to.getTime();
    const inside = { from: new Date(Math.max(begin, from.getTime())), to: new Date(Math.min(end, to.getTime())) };
    return [{ ...inside, all, wanted, isCut }];
  });
}

/** A part of the stretches that holds the wanted places, and how many wanted records of it come before them. */
export interface Jump extends Range {
  readonly offset: number;
  readonly all: number;
  readonly wanted: number;
}

/** Where the records `offset` to `offset + limit` are, in the order of the stretches. */
export function jumpTo(stretches: readonly Stretch[], offset: number, limit: number): Jump | undefined {
  let before = 0;
  let first = 0;
  for (const stretch of stretches) {
    if (before + stretch.wanted > offset) break;
    before += stretch.wanted;
    first += 1;
  }
  const chosen: Stretch[] = [];
  let wanted = 0;
  for (const stretch of stretches.slice(first)) {
    if (wanted >= offset - before + limit) break;
    wanted += stretch.wanted;
    chosen.push(stretch);
  }
  if (chosen.length === 0) return undefined;
  const times = chosen.flatMap(({ from, to }) => [from.getTime(), to.getTime()]);
  const all = sumOf(chosen, 'all');
  return { from: new Date(Math.min(...times)), to: new Date(Math.max(...times)), offset: offset - before, all, wanted };
}

/** The newest stretches that together have so many records that fit; at least one. */
export function newestWith(stretches: readonly Stretch[], fits: (of: Stretch) => number, most: number): Range {
  let sum = 0;
  let from = stretches[0]?.from ?? new Date(0);
  for (const [at, stretch] of stretches.entries()) {
    sum += fits(stretch);
    if (at > 0 && sum > most) break;
    from = stretch.from;
  }
  return { from, to: stretches[0]?.to ?? new Date(0) };
}

/** Moments spread over the records of the stretches, so many. */
export function spreadMoments(stretches: readonly Stretch[], count: number): readonly Date[] {
  const total = sumOf(stretches, 'all');
  const moments: Date[] = [];
  let before = 0;
  for (const { from, to, all } of stretches) {
    const length = to.getTime() - from.getTime();
    while (moments.length < count) {
      // Not evenly: what happens at every full hour must not meet every moment, or none.
      const place = ((moments.length + 0.2 + 0.6 * ((moments.length * 0.618) % 1)) / count) * total;
      if (place >= before + all) break;
      moments.push(new Date(to.getTime() - ((place - before) / all) * length));
    }
    before += all;
  }
  return moments;
}

/** The sum of a count. */
export function sumOf(stretches: readonly Stretch[], name: 'all' | 'wanted'): number {
  return stretches.reduce((sum, stretch) => sum + stretch[name], 0);
}
