/** Runs a generator to its end without interruption, for callers that need not let other work run. */
export function runToEnd<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Checks whether a generator should yield at this index. It yields every 32 items, because a few items seldom take
 * longer than other work can wait.
 */
export function shouldYield(at: number): boolean {
  return at % 32 === 31;
}

/** Calls `act` for each item in turn. Yields at regular intervals. */
export function* forEachInSteps<Item>(items: Iterable<Item>, act: (item: Item) => unknown): Generator<undefined, void> {
  let at = 0;
  for (const item of items) {
    if (shouldYield(at)) yield undefined;
    at += 1;
    act(item);
  }
}

/** Maps each item in turn. Yields at regular intervals. */
export function* mapInSteps<From, To>(
  items: readonly From[],
  become: (item: From, at: number) => To,
): Generator<undefined, readonly To[]> {
  const made: To[] = [];
  for (const [at, item] of items.entries()) {
    if (shouldYield(at)) yield undefined;
    made.push(become(item, at));
  }
  return made;
}

/**
 * Sorts items in parts and merges the parts. Stable, with the same result as sorting all at once. Yields at regular
 * intervals.
 */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, readonly T[]> {
  let sorted: (readonly T[])[] = [];
  for (let at = 0; at < items.length; at += sortPartSize) {
    sorted.push(items.slice(at, at + sortPartSize).sort(compare));
    yield undefined;
  }
  while (sorted.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let at = 0; at < sorted.length; at += 2)
      merged.push(yield* merge(sorted[at] ?? [], sorted[at + 1] ?? [], compare));
    sorted = merged;
  }
  return sorted[0] ?? [];
}

const sortPartSize = 256;

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, readonly T[]> {
  const merged: T[] = [];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    // Both items exist, because the indexes are below the lengths.
    const [a, b] = [left[at] as T, right[other] as T];
    if (compare(a, b) <= 0) {
      merged.push(a);
      at += 1;
    } else {
      merged.push(b);
      other += 1;
    }
    if (merged.length % sortPartSize === 0) yield undefined;
  }
  return [...merged, ...left.slice(at), ...right.slice(other)];
}

/** Splits a list into parts of at most `most` items. */
export function splitIntoParts<T>(items: Iterable<T>, most: number): readonly (readonly T[])[] {
  const list = [...items];
  return Array.from({ length: Math.ceil(list.length / most) }, (_, at) => list.slice(at * most, (at + 1) * most));
}

/**
 * A list with more items than this usually has small items, which are written whole. The items of a shorter list are
 * split as well.
 */
const maxItemsToSplit = 32;

/** Maximum depth at which values are split. Deeper values are small. */
const maxDepth = 5;

/**
 * A value with fewer parts than this is written at once, in a fraction of a millisecond. Writing it in parts takes ten
 * times as long.
 */
const minPartsToSplit = 1000;

/** Number of characters that count as one part. */
const charactersPerPart = 256;

/**
 * Returns the same text as `JSON.stringify` for plain data. Writes large values in parts and yields at regular
 * intervals.
 */
export function* jsonInSteps(value: unknown): Generator<undefined, string> {
  if (subtractParts(value, minPartsToSplit) > 0) return JSON.stringify(value) ?? 'null';
  return (yield* textOf(value, 0)) ?? 'null';
}

/** Subtracts the parts of a value from `parts` and returns the rest. Stops counting when nothing is left. */
function subtractParts(value: unknown, parts: number): number {
  if (typeof value === 'string') return parts - 1 - Math.floor(value.length / charactersPerPart);
  if (typeof value !== 'object' || value === null) return parts - 1;
  let left = parts - 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (left <= 0) return 0;
    left = subtractParts(member, left);
  }
  return left;
}

/**
 * Returns the JSON text of a value. Like `JSON.stringify`, the callers omit members without a text from objects and
 * write `null` in lists.
 */
function* textOf(value: unknown, depth: number): Generator<undefined, string | undefined> {
  if (depth < maxDepth && Array.isArray(value)) return yield* listText(value, depth);
  if (depth < maxDepth && isPlain(value)) return yield* objectText(value, depth);
  if (typeof value === 'string' && value.length > defaultPartLength) return yield* longStringText(value);
  return JSON.stringify(value);
}

function* longStringText(value: string): Generator<undefined, string> {
  const parts: string[] = [];
  for (const part of splitText(value)) {
    if (parts.length > 0) yield undefined;
    parts.push(JSON.stringify(part).slice(1, -1));
  }
  return `"${parts.join('')}"`;
}

// `listText` and `objectText` join the texts of items and members and do not append them to one string: such a string
// keeps everything that is appended until it is first read, and then copies piece by piece. For 30 MB in small pieces,
// that takes a second.

function* listText(items: readonly unknown[], depth: number): Generator<undefined, string> {
  const parts: string[] = [];
  let texts: string[] = [];
  for (let at = 0; at < items.length; at++) {
    if (shouldYield(at)) {
      parts.push(texts.join(','));
      texts = [];
      yield undefined;
    }
    const item = items.length > maxItemsToSplit ? JSON.stringify(items[at]) : yield* textOf(items[at], depth + 1);
    texts.push(item ?? 'null');
  }
  return `[${[...parts, ...texts].join(',')}]`;
}

function* objectText(object: object, depth: number): Generator<undefined, string> {
  const parts: string[] = [];
  let texts: string[] = [];
  let at = 0;
  for (const [name, member] of Object.entries(object)) {
    if (shouldYield(at++)) {
      if (texts.length > 0) parts.push(texts.join(','));
      texts = [];
      yield undefined;
    }
    const text = yield* textOf(member, depth + 1);
    if (text !== undefined) texts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${[...parts, ...texts].join(',')}}`;
}

/** Checks for an object without its own `toJSON`. Others, such as dates, are left to `JSON.stringify`. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Default length of a part, in characters. */
const defaultPartLength = 256 * 1024;

/** Splits a text into parts of bounded length. Never splits a surrogate pair. */
export function* splitText(text: string, most = defaultPartLength): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + most, text.length);
    if (isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end))) end += 1;
    yield text.slice(at, end);
    at = end;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

/** False for `NaN`, the code after the end of a text. */
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
