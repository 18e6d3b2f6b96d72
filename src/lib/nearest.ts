/** Returns the candidate that a mistyped word probably means. Returns `undefined` when no candidate is similar. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return nearestAll(word, candidates, 1)[0];
}

/**
 * Returns up to `count` candidates that are similar to the word, most similar first. The word itself is never
 * suggested.
 */
export function nearestAll(word: string, candidates: Iterable<string>, count: number): readonly string[] {
  if (word.length > maxWordLength) return [];
  const ranked: { readonly candidate: string; readonly rank: number }[] = [];
  const lower = word.toLowerCase();
  for (const candidate of new Set(candidates)) {
    if (candidate === word || candidate.length > maxWordLength) continue;
    const rank = rankOf(lower, candidate.toLowerCase());
    if (rank !== undefined) ranked.push({ candidate, rank });
  }
  ranked.sort((a, b) => a.rank - b.rank || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, count).map((entry) => entry.candidate);
}

/**
 * Maximum length of a word, in characters. The comparison takes time proportional to the product of both lengths, and
 * no mistyped name is longer.
 */
const maxWordLength = 256;

const maxEdits = 4;
const minPrefixLength = 3;

/**
 * Returns the number of edits when it is small for the length (one in three letters), or the worst rank when the word
 * is a prefix of the candidate. Returns `undefined` otherwise.
 */
function rankOf(word: string, candidate: string): number | undefined {
  const longest = Math.max(word.length, candidate.length);
  const limit = Math.min(maxEdits, Math.max(1, Math.floor(longest / 3)));
  const edits = editsWithin(word, candidate, limit);
  if (edits !== undefined && edits < longest) return edits;
  return word.length >= minPrefixLength && candidate.startsWith(word) ? maxEdits + 1 : undefined;
}

/** Three rows of the distance table, reused for every pair: one hint compares a word with thousands of candidates. */
const distanceRows = [0, 1, 2].map(() => new Uint16Array(maxWordLength + 1)) as [Uint16Array, Uint16Array, Uint16Array];

/**
 * Returns the Damerau–Levenshtein distance (swapped neighbours count once), or `undefined` as soon as it must exceed
 * the limit. Cells further from the diagonal than the limit always exceed it, so only the band around the diagonal is
 * computed.
 */
function editsWithin(a: string, b: string, limit: number): number | undefined {
  if (Math.abs(a.length - b.length) > limit) return undefined;
  const beyond = limit + 1;
  let [beforeLast, last, current] = distanceRows;
  for (let column = 0; column <= b.length; column += 1) last[column] = Math.min(column, beyond);
  for (let row = 1; row <= a.length; row += 1) {
    const [from, to] = [Math.max(1, row - limit), Math.min(b.length, row + limit)];
    current[from - 1] = from === 1 ? Math.min(row, beyond) : beyond;
    if (to < b.length) current[to + 1] = beyond;
    let least = current[from - 1] ?? beyond;
    const letter = a.charCodeAt(row - 1);
    for (let column = from; column <= to; column += 1) {
      const other = b.charCodeAt(column - 1);
      const change = (last[column - 1] ?? beyond) + (letter === other ? 0 : 1);
      let edits = Math.min(change, (last[column] ?? beyond) + 1, (current[column - 1] ?? beyond) + 1);
      const isSwapped = row > 1 && column > 1 && letter === b.charCodeAt(column - 2) && a.charCodeAt(row - 2) === other;
      if (isSwapped) edits = Math.min(edits, (beforeLast[column - 2] ?? beyond) + 1);
      current[column] = Math.min(edits, beyond);
      least = Math.min(least, edits);
    }
    if (least > limit) return undefined;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  const edits = last[b.length] ?? beyond;
  return edits <= limit ? edits : undefined;
}
