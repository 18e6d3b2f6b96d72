import { keyOf } from './count-slices.ts';

// Texts that are too various for a list of values are found by the triples of characters in them. A record has the numbers of
// its triples in one column, and one index over it answers which records have all triples of what is looked for; whether they
// have the text itself is asked of the records.

/** Texts that are shorter have no triple. */
export const shortestPart = 3;

/** Text behind so many characters has no triples: invented endless texts must not make the index endless. */
const indexedLength = 512;

/** What is looked for has so many triples at the most; the records themselves say the rest. */
const askedAtMost = 32;

/** A number of 30 bits for an account, so that its triples are not those of others. */
export function saltOf(account: string): number {
  return keyOf(account) % 2 ** 30;
}

/** The numbers by which records with these texts are found: those of all triples of characters, in any case. */
export function termsOf(salt: number, texts: readonly string[]): readonly number[] {
  const terms = new Set<number>();
  for (const text of texts) addTriples(terms, salt, text.slice(0, indexedLength));
  return [...terms];
}

/** The numbers that a record with this part in a text has; none when it is too short to say. */
export function termsWith(salt: number, part: string): readonly number[] {
  const terms = new Set<number>();
  addTriples(terms, salt, part);
  return [...terms].slice(0, askedAtMost);
}

/** The numbers of all beginnings of a text that are too short to have triples. */
export function beginnings(salt: number, text: string): readonly number[] {
  const lengths = Array.from({ length: Math.min(text.length, shortestPart - 1) }, (_, at) => at + 1);
  return lengths.map((length) => beginningTerm(salt, text.slice(0, length)));
}

/** The number by which texts are found that begin with one that is too short to have triples. */
export function beginningTerm(salt: number, text: string): number {
  return 2 ** 30 + (packed(text.toLowerCase()) ^ salt);
}

/** The numbers of texts by name. */
export function wholeTerms(salt: number, texts: Readonly<Record<string, string>>): readonly number[] {
  return Object.entries(texts).map(([name, text]) => wholeTerm(salt, name, text));
}

/** The number of a whole text under a name. */
export function wholeTerm(salt: number, name: string, text: string): number {
  // Above those of triples.
  return 2 ** 30 + ((keyOf(`${name} ${text}`) + salt) % 2 ** 30);
}

function addTriples(terms: Set<number>, salt: number, text: string): void {
  const lower = text.toLowerCase();
  for (let at = shortestPart; at <= lower.length; at += 1) terms.add(packed(lower.slice(at - shortestPart, at)) ^ salt);
}

/** A number of 30 bits for at most three characters. */
function packed(text: string): number {
  let number = 0;
  for (let at = 0; at < text.length; at += 1) number = (number << 10) | (text.charCodeAt(at) & 1023);
  return number;
}
