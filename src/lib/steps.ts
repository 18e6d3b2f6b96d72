/** Runs work that yields now and then to its end at once, for those who need not let others in between. */
export function runToEnd<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Whether work that yields now and then does so after the item at this place: few items take longer than others can wait. */
export function isTurn(at: number): boolean {
  return at % 32 === 31;
}

/** Does something with each item, one after the other. Yields now and then. */
export function* eachInSteps<Item>(items: Iterable<Item>, act: (item: Item) => unknown): Generator<undefined, void> {
  let at = 0;
  for (const item of items) {
    if (isTurn(at)) yield undefined;
    at += 1;
    act(item);
  }
}

/** What each item becomes, one after the other. Yields now and then. */
export function* mapInSteps<From, To>(
  items: readonly From[],
  become: (item: From, at: number) => To,
): Generator<undefined, readonly To[]> {
  const made: To[] = [];
  for (const [at, item] of items.entries()) {
    if (isTurn(at)) yield undefined;
    made.push(become(item, at));
  }
  return made;
}

/** Items sorted in parts, which are merged then: stable, and the same as sorting them at once. Yields now and then. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, readonly T[]> {
  let sorted: (readonly T[])[] = [];
  for (let at = 0; at < items.length; at += sortedAtOnce) {
    sorted.push(items.slice(at, at + sortedAtOnce).sort(compare));
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

const sortedAtOnce = 256;

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, readonly T[]> {
  const merged: T[] = [];
  let [at, other] = [0, 0];
  while (at < left.length && other < right.length) {
    // Both are there: the places are below the lengths.
    const [a, b] = [left[at] as T, right[other] as T];
    if (compare(a, b) <= 0) {
      merged.push(a);
      at += 1;
    } else {
      merged.push(b);
      other += 1;
    }
    if (merged.length % sortedAtOnce === 0) yield undefined;
  }
  return [...merged, ...left.slice(at), ...right.slice(other)];
}

/** A list in parts of at most so many. */
export function inParts<T>(items: Iterable<T>, most: number): readonly (readonly T[])[] {
  const list = [...items];
  return Array.from({ length: Math.ceil(list.length / most) }, (_, at) => list.slice(at * most, (at + 1) * most));
}

/** A list with more items than this is of small things, as a rule; the items of a shorter one are taken apart too. */
const fewItems = 32;

/** Deeper than this everything is small. */
const deepest = 5;

/** What has fewer parts than this is made at once, in a fraction of a millisecond: each part of its own costs ten times as much. */
const fewParts = 1000;

/** So many characters count as a part. */
const charactersOfPart = 256;

/** The text that `JSON.stringify` makes of plain data, made in parts when there are many. Yields now and then. */
export function* jsonInSteps(value: unknown): Generator<undefined, string> {
  if (partsLeft(value, fewParts) > 0) return JSON.stringify(value) ?? 'null';
  return (yield* textOf(value, 0)) ?? 'null';
}

/** How many parts are left of so many when those of a value are taken away; not more than those are looked at. */
function partsLeft(value: unknown, parts: number): number {
  if (typeof value === 'string') return parts - 1 - Math.floor(value.length / charactersOfPart);
  if (typeof value !== 'object' || value === null) return parts - 1;
  let left = parts - 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (left <= 0) return 0;
    left = partsLeft(member, left);
  }
  return left;
}

/** As `JSON.stringify`: what has no text is left out of objects, and `null` in lists. */
function* textOf(value: unknown, depth: number): Generator<undefined, string | undefined> {
  if (depth < deepest && Array.isArray(value)) return yield* listText(value, depth);
  if (depth < deepest && isPlain(value)) return yield* objectText(value, depth);
  return JSON.stringify(value);
}

function* listText(items: readonly unknown[], depth: number): Generator<undefined, string> {
  let text = '';
  for (let at = 0; at < items.length; at++) {
    if (isTurn(at)) yield undefined;
    const item = items.length > fewItems ? JSON.stringify(items[at]) : yield* textOf(items[at], depth + 1);
    text += `${at === 0 ? '' : ','}${item ?? 'null'}`;
  }
  return `[${text}]`;
}

function* objectText(object: object, depth: number): Generator<undefined, string> {
  let text = '';
  let at = 0;
  for (const [name, member] of Object.entries(object)) {
    if (isTurn(at++)) yield undefined;
    const part = yield* textOf(member, depth + 1);
    if (part !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${part}`;
  }
  return `{${text}}`;
}

/** Whatever says itself how it is written, such as a date, is left to it. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** How many characters a part has. */
const partCharacters = 256 * 1024;

/** A text in parts of bounded length, none of which ends within a character. */
export function* textInParts(text: string, most = partCharacters): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + most, text.length);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last < 0xdc00 && end < text.length) end += 1;
    yield text.slice(at, end);
    at = end;
  }
}
