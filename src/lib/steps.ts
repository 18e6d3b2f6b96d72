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
