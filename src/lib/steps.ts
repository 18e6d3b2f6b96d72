/** Runs work that yields now and then to its end at once, for those who need not let others in between. */
export function runToEnd<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** A list in parts of at most so many. */
export function inParts<T>(items: Iterable<T>, most: number): readonly (readonly T[])[] {
  const list = [...items];
  return Array.from({ length: Math.ceil(list.length / most) }, (_, at) => list.slice(at * most, (at + 1) * most));
}
