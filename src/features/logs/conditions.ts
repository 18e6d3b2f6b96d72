import type { Engine } from '../../commit/engine.ts';
import { likeText, readValues } from '../../db/logs/feed-read.ts';
import type { Condition, Feed } from '../../db/logs/feeds.ts';
import { anyValue, type Slice, sliceKey } from './count-slices.ts';
import type { Page } from './pages.ts';
import { beginningTerm, saltOf, shortestPart, termsWith, wholeTerm } from './terms.ts';

/** The log of an account that is asked. */
export interface Log {
  readonly database: Engine['database'];
  readonly feed: Feed;
  readonly account: string;
}

/** A page without records. */
export const emptyPage: Page = { records: [], total: 0, isEstimate: false };

/** Every moment. */
export const allTime = { from: new Date(0), to: new Date('2999-01-01T00:00:00Z') };

/** Records whose column has one of these texts, which are never empty. */
export function ofTexts(column: string, texts: readonly string[]): Condition {
  return (bind) => `${column} <> '' and ${column} = any(${bind([...texts])}::text[])`;
}

/** Records whose column has one of these keys. */
export function ofKeys(column: string, keys: readonly number[]): Condition {
  return (bind) => `${column} = any(${bind([...keys])}::bigint[])`;
}

/** Records whose column has none of these keys. */
export function notOfKeys(column: string, keys: readonly number[]): Condition {
  return (bind) => `${column} <> all(${bind([...keys])}::bigint[])`;
}

/** Records for which one of the conditions holds. */
export function anyOf(conditions: readonly Condition[]): Condition {
  return (bind) => conditions.map((condition) => `(${condition(bind)})`).join(' or ') || 'false';
}

/** Records for which all of the conditions hold. */
export function allOf(conditions: readonly Condition[]): Condition {
  return (bind) => conditions.map((condition) => `(${condition(bind)})`).join(' and ') || 'true';
}

/** Records that have a part in one of these texts, found by their terms; only for parts that have terms. */
export function withPart({ account }: Log, texts: readonly string[], part: string): Condition {
  const terms = termsWith(saltOf(account), part);
  return allOf([withTerms(terms), anyOf(texts.map((text) => (bind) => `${text} ilike ${bind(likeText(part))}`))]);
}

/** Whether a part is long enough to be found by terms. */
export function hasTerms(part: string): boolean {
  return part.length >= shortestPart;
}

/** Records with a text that begins with one that is too short to be looked for inside of texts. */
export function beginningWith({ account }: Log, column: string, text: string): Condition {
  const pattern = likeText(text).slice(1);
  const terms = [beginningTerm(saltOf(account), text)];
  return allOf([withTerms(terms), (bind) => `${column} ilike ${bind(pattern)}`]);
}

function withTerms(terms: readonly number[]): Condition {
  return (bind) => `terms @> ${bind([...terms])}::int[]`;
}

/** The keys of the listed values of a field that have a part in them. */
export async function keysWith({ database, feed, account }: Log, field: string, part: string) {
  return readValues(database, feed, account, field, part);
}

/** Whether there may be records with values that are not listed. */
export async function hasRest({ database, feed, account }: Log): Promise<boolean> {
  return (await readValues(database, feed, account, 'rest')).length > 0;
}

/** A slice that records have. */
export interface KnownSlice {
  readonly key: number;
  readonly slice: Slice;
}

/** All slices that records have. */
export async function knownSlices({ database, feed, account }: Log): Promise<readonly KnownSlice[]> {
  const known = await readValues(database, feed, account, 'slice');
  return known.map(({ key, value }) => ({ key, slice: JSON.parse(value) as Slice }));
}

/** What asking for values of slices comes to. */
export interface SelectedSlices {
  readonly condition: Condition;
  /** The slices whose counts make the total; absent when some records must be asked themselves. */
  readonly counted?: readonly number[];
}

/** The values that a slice has under a name. */
export type ValuesOf = (slice: Slice, name: string) => readonly string[];

/** The records that have these values; `undefined` when nothing is asked for, `none` when there are none. */
export async function slicesWith(
  log: Log,
  asked: Slice,
  valuesOf: ValuesOf,
): Promise<SelectedSlices | 'none' | undefined> {
  const names = Object.entries(asked);
  if (names.length === 0) return undefined;
  const known = await knownSlices(log);
  const mayFit = known.filter(({ slice }) =>
    names.every(([name, value]) => valuesOf(slice, name).some((has) => has === value || has === anyValue)),
  );
  if (mayFit.length === 0) return 'none';
  const isOpen = ({ slice }: KnownSlice) => names.some(([name]) => valuesOf(slice, name).includes(anyValue));
  const keys = mayFit.filter((slice) => !isOpen(slice)).map(({ key }) => key);
  const open = mayFit.filter(isOpen);
  if (open.length === 0)
    return { condition: ofKeys('slice', keys), counted: names.length === 1 ? [sliceKey(asked)] : keys };
  // The records of the rest have to be asked for what their slices do not say.
  const unsaid = names.filter(([name]) => open.some(({ slice }) => valuesOf(slice, name).includes(anyValue)));
  const salt = saltOf(log.account);
  const ofRest = allOf([
    ofKeys(
      'slice',
      open.map(({ key }) => key),
    ),
    withTerms(unsaid.slice(0, 1).map(([name, value]) => wholeTerm(salt, name, value))),
    ...unsaid.map(
      ([name, value]): Condition =>
        (bind) =>
          `${name} = ${bind(value)}`,
    ),
  ]);
  return { condition: anyOf([ofKeys('slice', keys), ofRest]) };
}
