import { Lexer } from 'yaml';

/** Begins a scalar without quotes. */
const scalarMark = '\u001f';
const collections: ReadonlySet<string> = new Set(['[', '{', '-', '---']);

/**
 * Whether a text holds more values than `most`, found without making them: the parser needs 500 bytes and more for each. It
 * counts no more than there are, so that no text is refused that would have been read.
 */
export function holdsMoreThan(text: string, most: number): boolean {
  // Each value takes a character at least.
  if (text.length <= most) return false;
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const first = lexeme[0];
    if (first === scalarMark || first === '"' || first === "'" || collections.has(lexeme)) count += 1;
    if (count > most) return true;
  }
  return false;
}
