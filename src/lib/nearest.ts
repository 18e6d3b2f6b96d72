/** The candidate that was probably meant by a mistyped word, if any comes close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return nearestAll(word, candidates, 1)[0];
}

/** Up to `count` candidates that come close to the word, the closest first. */
export function nearestAll(word: string, candidates: Iterable<string>, count: number): readonly string[] {
  if (word.length > longestWord) return [];
  const ranked: { readonly candidate: string; readonly rank: number }[] = [];
  const lower = word.toLowerCase();
  for (const candidate of new Set(candidates)) {
    if (candidate.length > longestWord) continue;
    const rank = rankOf(lower, candidate.toLowerCase());
    if (rank !== undefined) ranked.push({ candidate, rank });
  }
  ranked.sort((a, b) => a.rank - b.rank || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, count).map((entry) => entry.candidate);
}

/** Comparing takes the product of two lengths; no name that somebody mistypes is longer. */
const longestWord = 256;

const mostEdits = 4;
const shortestPrefix = 3;

/** The number of edits when there are few for the length (one in three letters), the last rank for an abbreviation. */
function rankOf(word: string, candidate: string): number | undefined {
  const longest = Math.max(word.length, candidate.length);
  const limit = Math.min(mostEdits, Math.max(1, Math.floor(longest / 3)));
  const edits = editsWithin(word, candidate, limit);
  if (edits !== undefined && edits < longest) return edits;
  return word.length >= shortestPrefix && candidate.startsWith(word) ? mostEdits + 1 : undefined;
}

/** Damerau–Levenshtein distance (neighbours swapped count once), given up as soon as it must exceed the limit. */
function editsWithin(a: string, b: string, limit: number): number | undefined {
  if (Math.abs(a.length - b.length) > limit) return undefined;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const change = at(last, column - 1) + (same ? 0 : 1);
      const edits = Math.min(change, at(last, column) + 1, at(current, column - 1) + 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(swapped ? Math.min(edits, at(beforeLast, column - 2) + 1) : edits);
    }
    if (Math.min(...current) > limit) return undefined;
    [beforeLast, last] = [last, current];
  }
  const edits = at(last, b.length);
  return edits <= limit ? edits : undefined;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
