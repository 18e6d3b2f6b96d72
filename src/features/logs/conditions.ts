import type { Engine } from '../../commit/engine.ts';
import { likeText, readValues } from '../../db/logs/feed-read.ts';
import type { Condition, Feed } from '../../db/logs/feeds.ts';
import { type Slice, sliceKey, unlistedValue } from './count-slices.ts';
import type { Page } from './pages.ts';
import { minPartLength, prefixTerm, saltOf, termsWith, wholeTerm } from './search-terms.ts';

/** A log of an account that is queried. */
export interface Log {
  readonly database: Engine['database'];
  readonly feed: Feed;
  readonly account: string;
}

/** A page without records. */
export const emptyPage: Page = { records: [], total: 0, isEstimate: false };

/** Range that includes all times. */
export const allTime = { from: new Date(0), to: new Date('2999-01-01T00:00:00Z') };

/** Returns the condition that a column equals one of the texts. The texts are never empty. */
export function equalsAnyText(column: string, texts: readonly string[]): Condition {
  return (bind) => `${column} <> '' and ${column} = any(${bind([...texts])}::text[])`;
}

/** Returns the condition that a column equals one of the keys. */
export function equalsAnyKey(column: string, keys: readonly number[]): Condition {
  return (bind) => `${column} = any(${bind([...keys])}::bigint[])`;
}

/** Returns the condition that a column equals none of the keys. */
export function equalsNoKey(column: string, keys: readonly number[]): Condition {
  return (bind) => `${column} <> all(${bind([...keys])}::bigint[])`;
}

/** Returns the condition that at least one of the conditions is true. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return (bind) => conditions.map((condition) => `(${condition(bind)})`).join(' or ') || 'false';
}

/** Returns the condition that all of the conditions are true. */
export function allOf(conditions: readonly Condition[]): Condition {
  return (bind) => conditions.map((condition) => `(${condition(bind)})`).join(' and ') || 'true';
}

/**
 * Returns the condition that one of the texts contains `part`. The records are found by their terms, so `part` must be
 * long enough to have terms.
 */
export function containsPart({ account }: Log, texts: readonly string[], part: string): Condition {
  const terms = termsWith(saltOf(account), part);
  return allOf([
    containsAllTerms(terms),
    anyOf(texts.map((text) => (bind) => `${text} ilike ${bind(likeText(part))}`)),
  ]);
}

/** Returns whether a part is long enough to be found by terms. */
export function hasTerms(part: string): boolean {
  return part.length >= minPartLength;
}

/** Returns the condition that a column begins with a text that is too short to be searched inside of texts. */
export function beginsWith({ account }: Log, column: string, text: string): Condition {
  const pattern = likeText(text).slice(1);
  const terms = [prefixTerm(saltOf(account), text)];
  return allOf([containsAllTerms(terms), (bind) => `${column} ilike ${bind(pattern)}`]);
}

function containsAllTerms(terms: readonly number[]): Condition {
  return (bind) => `terms @> ${bind([...terms])}::int[]`;
}

/** Reads the listed values of a field that contain a part, with their keys. */
export async function readValuesContaining({ database, feed, account }: Log, field: string, part: string) {
  return readValues(database, feed, account, field, part);
}

/** Returns whether there may be records with values that are not listed. */
export async function hasUnlistedValues({ database, feed, account }: Log): Promise<boolean> {
  return (await readValues(database, feed, account, 'rest')).length > 0;
}

/** A slice that has records. */
export interface KnownSlice {
  readonly key: number;
  readonly slice: Slice;
}

/** Reads all slices that have records. */
export async function readSlices({ database, feed, account }: Log): Promise<readonly KnownSlice[]> {
  const known = await readValues(database, feed, account, 'slice');
  return known.map(({ key, value }) => ({ key, slice: JSON.parse(value) as Slice }));
}

/** The records that match the requested values of slices. */
export interface SelectedSlices {
  readonly condition: Condition;
  /**
   * Keys of the slices whose counts add up to the total. Absent when the values of some records must be compared, too.
   */
  readonly counted?: readonly number[];
}

/** Returns the values that a slice has under a name. */
export type ValuesOf = (slice: Slice, name: string) => readonly string[];

/**
 * Returns the condition for records with the requested values. Returns `undefined` when no value is requested, `none`
 * when no record can match.
 */
export async function selectSlices(
  log: Log,
  asked: Slice,
  valuesOf: ValuesOf,
): Promise<SelectedSlices | 'none' | undefined> {
  const names = Object.entries(asked);
  if (names.length === 0) return undefined;
  const known = await readSlices(log);
  const mayFit = known.filter(({ slice }) =>
    names.every(([name, value]) => valuesOf(slice, name).some((has) => has === value || has === unlistedValue)),
  );
  if (mayFit.length === 0) return 'none';
  const isOpen = ({ slice }: KnownSlice) => names.some(([name]) => valuesOf(slice, name).includes(unlistedValue));
  const keys = mayFit.filter((slice) => !isOpen(slice)).map(({ key }) => key);
  const open = mayFit.filter(isOpen);
  if (open.length === 0)
    return { condition: equalsAnyKey('slice', keys), counted: names.length === 1 ? [sliceKey(asked)] : keys };
  // Slices with unlisted values do not contain the value itself, so it is compared with the columns of their records.
  const unsaid = names.filter(([name]) => open.some(({ slice }) => valuesOf(slice, name).includes(unlistedValue)));
  const salt = saltOf(log.account);
  const ofRest = allOf([
    equalsAnyKey(
      'slice',
      open.map(({ key }) => key),
    ),
    containsAllTerms(unsaid.slice(0, 1).map(([name, value]) => wholeTerm(salt, name, value))),
    ...unsaid.map(
      ([name, value]): Condition =>
        (bind) =>
          `${name} = ${bind(value)}`,
    ),
  ]);
  return { condition: anyOf([equalsAnyKey('slice', keys), ofRest]) };
}
