import { hashKeyOf } from './count-slices.ts';

// Texts with too many different values for a list are found by their triples, sequences of three characters. A record
// has the numbers of its triples in one column. An index over this column finds the records that have all triples of
// the searched text. Whether they contain the text itself is checked in the records.

/** Minimum length of a text that has triples. */
export const minPartLength = 3;

/**
 * Number of characters at the beginning of a text that are indexed. Endless invented texts must not make the index
 * endless.
 */
const indexedLength = 512;

/** Maximum number of triples in a search. The records found by them are compared with the whole text. */
const maxSearchTerms = 32;

/**
 * Returns a 30-bit number for an account, by which its triples get other numbers than the triples of other accounts.
 */
export function saltOf(account: string): number {
  return hashKeyOf(account) % 2 ** 30;
}

/** Returns the terms by which a record with these texts is found: the numbers of all triples, ignoring case. */
export function termsOf(salt: number, texts: readonly string[]): readonly number[] {
  const terms = new Set<number>();
  for (const text of texts) addTriples(terms, salt, text.slice(0, indexedLength));
  return [...terms];
}

/**
 * Returns the terms that a record has if one of its texts contains the part. Empty when the part is too short to have
 * triples.
 */
export function termsWith(salt: number, part: string): readonly number[] {
  const terms = new Set<number>();
  addTriples(terms, salt, part);
  return [...terms].slice(0, maxSearchTerms);
}

/** Returns the terms of all beginnings of a text that are too short to have triples. */
export function prefixTerms(salt: number, text: string): readonly number[] {
  const lengths = Array.from({ length: Math.min(text.length, minPartLength - 1) }, (_, at) => at + 1);
  return lengths.map((length) => prefixTerm(salt, text.slice(0, length)));
}

/** Returns the term that finds texts beginning with a text too short to have triples. */
export function prefixTerm(salt: number, text: string): number {
  return 2 ** 30 + (packTriple(text.toLowerCase()) ^ salt);
}

/** Returns the terms of whole texts, by name. */
export function wholeTerms(salt: number, texts: Readonly<Record<string, string>>): readonly number[] {
  return Object.entries(texts).map(([name, text]) => wholeTerm(salt, name, text));
}

/** Returns the term of a whole text under a name. */
export function wholeTerm(salt: number, name: string, text: string): number {
  // The terms are above the numbers of triples.
  return 2 ** 30 + ((hashKeyOf(`${name} ${text}`) + salt) % 2 ** 30);
}

function addTriples(terms: Set<number>, salt: number, text: string): void {
  const lower = text.toLowerCase();
  for (let at = minPartLength; at <= lower.length; at += 1)
    terms.add(packTriple(lower.slice(at - minPartLength, at)) ^ salt);
}

/** Returns a 30-bit number for a text of at most three characters. */
function packTriple(text: string): number {
  let number = 0;
  for (let at = 0; at < text.length; at += 1) number = (number << 10) | (text.charCodeAt(at) & 1023);
  return number;
}
