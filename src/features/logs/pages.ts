import type { Database } from '../../db/database.ts';
import { countRecords, readHours, readRecords, sampleShares } from '../../db/logs/feed-read.ts';
import type { Condition, Feed, Range } from '../../db/logs/feeds.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { SortOrder } from '../../model/declare/list-words.ts';
import { allRecordsSliceKey } from './count-slices.ts';
import { type HourRange, hourRangesOf, newestRangeWithin, rangeAtOffset, spreadTimes, sumOf } from './hours.ts';

/** Limits at which a page is read in another way. */
export interface PageLimits {
  /** Highest total that is counted exactly. Higher totals are estimated from the hourly roll-ups. */
  readonly exactUpTo: number;
  /** Maximum number of records, the newest ones, that are sorted by another column than the time. */
  readonly sortedAtMost: number;
  /** Maximum number of records that a scan by time may skip. */
  readonly scannedAtMost: number;
}

const defaultLimits: PageLimits = { exactUpTo: 100_000, sortedAtMost: 100_000, scannedAtMost: 30_000 };

/** The matching records in two disjoint parts: records of slices, which the roll-ups count, and all others. */
export interface Split {
  readonly slices: readonly number[];
  readonly ofSlices: Condition;
  readonly others: Condition;
}

/** Query for a page of a feed. */
export interface PageQuery {
  readonly feed: Feed;
  readonly account: string;
  readonly range: Range;
  readonly conditions: readonly Condition[];
  /** Keys of the slices whose counts add up to the total. Absent when there are conditions on more than slices. */
  readonly slices?: readonly number[];
  /** Absent when the roll-ups count no part of the matching records. */
  readonly split?: Split;
  /** Whether one index covers all matching records and their times. */
  readonly isIndexed: boolean;
  readonly sort: readonly string[];
  readonly order: SortOrder;
  readonly limit: number;
  readonly offset: number;
  readonly limits?: PageLimits;
}

/** A page of records and the total number of records. */
export interface Page {
  readonly records: readonly JsonObject[];
  readonly total: number;
  /** Whether the total is an estimate, from roll-ups and a sample. */
  readonly isEstimate: boolean;
  /** Oldest time that was sorted. Absent when all matching records were sorted. */
  readonly sortedFrom?: Date;
}

interface Total {
  readonly total: number;
  readonly isEstimate: boolean;
  /** Newest first. When slices are counted, cut hours have their exact counts. */
  readonly hourRanges: readonly HourRange[];
}

/** Reads a page. The cost depends on the page, not on the number of stored records. */
export async function readPage(database: Database, question: PageQuery): Promise<Page> {
  const counted = await countTotal(database, question);
  const { total, isEstimate } = counted;
  if (question.sort[0] !== 'timestamp') return readSortedPage(database, question, counted);
  if (question.offset >= total || question.limit === 0) return { records: [], total, isEstimate };
  return { records: await readPageByTime(database, question, counted), total, isEstimate };
}

async function countTotal(database: Database, question: PageQuery): Promise<Total> {
  const { slices, split, conditions, range } = question;
  const hours = await readHours(database, question, allRecordsSliceKey, slices ?? split?.slices ?? []);
  const hourRanges = hourRangesOf(hours, range);
  if (slices !== undefined) {
    const exact = await recount(database, question, hourRanges);
    return { total: sumOf(exact, 'selected'), isEstimate: false, hourRanges: exact };
  }
  const all = sumOf(hourRanges, 'all');
  if (conditions.length === 0 || all === 0) return { total: 0, isEstimate: false, hourRanges };
  if (split === undefined) return { ...(await countMatching(database, question, hourRanges, all)), hourRanges };
  const [ofSlices, others] = await Promise.all([
    recount(database, { ...question, conditions: [split.ofSlices] }, hourRanges),
    countMatching(database, { ...question, conditions: [split.others] }, hourRanges, all),
  ]);
  return { ...others, total: sumOf(ofSlices, 'selected') + others.total, hourRanges };
}

/** Returns the hours with exact counts, also for the hours of which only a part is in the range. */
function recount(
  database: Database,
  question: PageQuery,
  hourRanges: readonly HourRange[],
): Promise<readonly HourRange[]> {
  const counted = hourRanges.map(async (hourRange) => {
    if (!hourRange.isCut || hourRange.selected === 0) return hourRange;
    const selected = await countRecords(database, { ...question, range: hourRange }, Number.MAX_SAFE_INTEGER);
    return { ...hourRange, selected };
  });
  return Promise.all(counted);
}

/**
 * Returns the number of records that match conditions without a roll-up: counted, or estimated from a sample when there
 * are many.
 */
async function countMatching(
  database: Database,
  selection: PageQuery,
  hourRanges: readonly HourRange[],
  all: number,
): Promise<Omit<Total, 'hourRanges'>> {
  const { exactUpTo } = limitsOf(selection);
  if (all <= 1.5 * exactUpTo) return { total: await countRecords(database, selection, all + 1e6), isEstimate: false };
  const { mean, atLeast } = meanOf(await sampleShares(database, selection, spreadTimes(hourRanges, 32), 200));
  const estimate = Math.max(exactUpTo + 1, Math.round(mean * all));
  // Counting up to the limit, only to learn that there are more records, costs most when many records match.
  if (atLeast * all > exactUpTo) return { total: estimate, isEstimate: true };
  const counted = await countRecords(database, selection, exactUpTo + 1);
  return counted <= exactUpTo ? { total: counted, isEstimate: false } : { total: estimate, isEstimate: true };
}

/** Returns the mean of the shares, and a lower bound for it: the mean less four standard errors. */
function meanOf(shares: readonly number[]): { readonly mean: number; readonly atLeast: number } {
  const count = Math.max(1, shares.length);
  const mean = shares.reduce((sum, share) => sum + share, 0) / count;
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / Math.max(1, count - 1);
  return { mean, atLeast: mean - 4 * Math.sqrt(variance / count) };
}

async function readPageByTime(database: Database, question: PageQuery, counted: Total): Promise<readonly JsonObject[]> {
  const { slices, order, limit, offset } = question;
  const { scannedAtMost } = limitsOf(question);
  const ordered = order === 'desc' ? counted.hourRanges : counted.hourRanges.toReversed();
  if (slices === undefined) return readMatchingPage(database, question, counted);
  const atOffset = rangeAtOffset(ordered, offset, limit);
  if (atOffset === undefined) return [];
  const there = { ...question, range: atOffset };
  const needed = (atOffset.offset + limit) * (atOffset.all / Math.max(1, atOffset.selected));
  const how = needed <= scannedAtMost ? { scan: atOffset.all + limit } : findBy(question);
  return readRecords(database, there, { ...question, offset: atOffset.offset, strategy: how });
}

/** Scans by time when that is expected to find the page soon, else uses the indexes of the conditions. */
async function readMatchingPage(
  database: Database,
  question: PageQuery,
  { total, hourRanges }: Total,
): Promise<readonly JsonObject[]> {
  const { exactUpTo, scannedAtMost } = limitsOf(question);
  const all = sumOf(hourRanges, 'all');
  const needed = Math.ceil((question.offset + question.limit) * (all / Math.max(1, total)) * 2);
  if (needed <= Math.max(scannedAtMost, total * scannedPerIndexFind(question))) {
    const scan = Math.max(scannedAtMost, needed);
    const records = await readRecords(database, question, { ...question, strategy: { scan } });
    if (records.length === question.limit || scan >= all) return records;
  }
  const isTooMuch = total > exactUpTo && !question.isIndexed;
  const how = isTooMuch ? ({ scan: all + exactUpTo } as const) : findBy(question);
  return readRecords(database, question, { ...question, strategy: how });
}

/**
 * Returns the number of consecutive records that a scan skips in the time that an index needs to find one matching
 * record.
 */
function scannedPerIndexFind({ isIndexed }: PageQuery): number {
  return isIndexed ? 0.5 : 8;
}

function findBy({ isIndexed }: PageQuery): 'narrow' | 'find' {
  return isIndexed ? 'narrow' : 'find';
}

/** Sorts by another column than the time: all matching records, or only the newest when there are too many. */
async function readSortedPage(database: Database, question: PageQuery, counted: Total): Promise<Page> {
  const { total, isEstimate, hourRanges } = counted;
  const { sortedAtMost } = limitsOf(question);
  const read = (of: PageQuery) => readRecords(database, of, { ...of, strategy: 'sort' });
  if (total <= sortedAtMost && !isEstimate)
    return { records: question.offset >= total ? [] : await read(question), total, isEstimate };
  const share = total / Math.max(1, sumOf(hourRanges, 'all'));
  const fits = ({ all, selected }: HourRange) => (question.slices === undefined ? all * share : selected);
  const range = newestRangeWithin(hourRanges, fits, sortedAtMost);
  const within = { ...question, range };
  const known =
    question.slices &&
    sumOf(
      hourRanges.filter((hourRange) => hourRange.from >= range.from),
      'selected',
    );
  const [records, looked] = await Promise.all([
    read(within),
    known ?? countRecords(database, within, Number.MAX_SAFE_INTEGER),
  ]);
  return { records, total: looked, isEstimate: false, sortedFrom: range.from };
}

function limitsOf({ limits = defaultLimits }: PageQuery): PageLimits {
  return limits;
}
