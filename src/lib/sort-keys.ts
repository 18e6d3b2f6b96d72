/**
 * Sort keys are strings that are compared character by character. An element without a key is sorted by its id, so ids
 * and keys share one order: `~` is greater and `!` is less than every character of an id.
 */
const maxKeyLength = 200;

/**
 * Returns keys that increase in the given order. Keeps as many keys as possible, so that moving one element among
 * thousands changes one key.
 */
export function increasingKeys(keys: readonly string[]): readonly string[] {
  const kept = longestIncreasing(keys);
  const result: string[] = [];
  for (let at = 0; at < keys.length; ) {
    const end = kept.has(at) ? at : nextKept(kept, at, keys.length);
    if (end === at) result.push(keys[at++] ?? '');
    else {
      result.push(...keysBetween(result.at(-1) ?? '', keys[end], end - at));
      at = end;
    }
  }
  // Repeated moves to the same place make keys longer. All keys are renumbered when one becomes too long.
  return result.some((key) => key.length > maxKeyLength) ? numbered('!', 1, keys.length) : result;
}

/** Returns a key that is greater than `last` and less than every id created later. */
export function keyAfter(last: string): string {
  return keysBetween(last, undefined, 1)[0] ?? '';
}

function keysBetween(low: string, high: string | undefined, count: number): readonly string[] {
  if (high === undefined) {
    const [, stem, number] = /^(.*)~(\d{8})$/s.exec(low) ?? [];
    return stem === undefined ? numbered(low === '' ? '!' : low, 1, count) : numbered(stem, Number(number) + 1, count);
  }
  if (!high.startsWith(low)) return numbered(low, 1, count);
  const bangs = /^!*/.exec(high.slice(low.length))?.[0] ?? '';
  return numbered(`${low}${bangs}!`, 1, count);
}

function numbered(stem: string, first: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${stem}~${String(first + at).padStart(8, '0')}`);
}

function nextKept(kept: ReadonlySet<number>, from: number, end: number): number {
  let at = from;
  while (at < end && !kept.has(at)) at += 1;
  return at;
}

/** Returns the indexes of a longest strictly increasing subsequence (patience sorting). */
function longestIncreasing(keys: readonly string[]): ReadonlySet<number> {
  const tails: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [at, key] of keys.entries()) {
    const pile = firstNotLess(tails, keys, key);
    before.push(tails[pile - 1]);
    tails[pile] = at;
  }
  const indexes = new Set<number>();
  for (let at = tails.at(-1); at !== undefined; at = before[at]) indexes.add(at);
  return indexes;
}

function firstNotLess(tails: readonly number[], keys: readonly string[], key: string): number {
  let [low, high] = [0, tails.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[tails[middle] ?? 0] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
