/**
 * Path pattern in the syntax of `.gitignore`. Patterns come from repositories of tenants, so they are not compiled to
 * regular expressions: `*a*a*a…` would make those try every way to split a path. The matcher here backtracks only to
 * the last `*`, which finds a match whenever there is one, and counts every comparison.
 */
export interface Glob {
  /** Whether the pattern starts with `!`: paths that match it are read although another pattern excludes them. */
  readonly negated: boolean;
  /** Whether the pattern ends with `/`: it matches only directories, with everything in them, and no files. */
  readonly directoryOnly: boolean;
  readonly segments: readonly SegmentPattern[];
}

/** What one segment of a path must match. `**` matches any number of segments. */
type SegmentPattern = '**' | { readonly literal: string } | readonly Token[];

type Token =
  | '*'
  | '?'
  | { readonly char: string }
  | { readonly negated: boolean; readonly ranges: readonly (readonly [from: string, to: string])[] };

/** Called with the number of comparisons made. May throw to stop the matching. */
export type SpendComparisons = (comparisons: number) => void;

/** One segment of a path, also split into characters. */
export interface PathSegment {
  readonly name: string;
  readonly chars: readonly string[];
}

/** Splits a path into its segments. */
export function splitPath(path: string): readonly PathSegment[] {
  return path.split('/').map((name) => ({ name, chars: [...name] }));
}

/** Maximum length of a pattern, in characters. */
export const maxGlobLength = 500;

/** Parses one line of a pattern file. Returns `undefined` for a blank line or a comment. */
export function parseGlob(line: string): Glob | { readonly fault: string } | undefined {
  const text = withoutTrailingBlanks(line);
  if (text === '' || text.startsWith('#')) return undefined;
  if (text.length > maxGlobLength) return { fault: `has more than ${maxGlobLength} characters` };
  const negated = text.startsWith('!');
  const directoryOnly = text.endsWith('/');
  const body = text.slice(negated ? 1 : 0, directoryOnly ? -1 : undefined);
  if (body === '' || body === '/') return { fault: 'names nothing' };
  const parts = body.replace(/^\//, '').split('/');
  const steps: SegmentPattern[] = [];
  // A pattern without a slash matches in every directory.
  if (!body.includes('/') && body !== '**') steps.push('**');
  for (const part of parts) {
    const step = parseSegment(part);
    if (typeof step === 'object' && 'fault' in step) return step;
    if (step !== '**' || steps.at(-1) !== '**') steps.push(step);
  }
  // A trailing `**` matches everything below a directory, but not the directory itself.
  if (steps.at(-1) === '**') steps.push(['*']);
  return { negated, directoryOnly, segments: steps };
}

/** Removes trailing blanks, except those escaped by a backslash. */
function withoutTrailingBlanks(line: string): string {
  const text = line.replace(/\r$/, '');
  let end = text.length;
  while (end > 0 && /[ \t]/.test(text.charAt(end - 1)) && text.charAt(end - 2) !== '\\') end -= 1;
  return text.slice(0, end);
}

function parseSegment(text: string): SegmentPattern | { readonly fault: string } {
  if (text === '**') return '**';
  if (text === '' || text === '.' || text === '..')
    return { fault: `has the segment \`${text}\`, which no file path contains` };
  const chars = [...text];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? '';
    if (char === '[') {
      const set = parseCharacterSet(chars, at + 1);
      if ('fault' in set) return set;
      tokens.push(set.token);
      at = set.end;
    } else if (char === '\\') {
      at += 1;
      const escaped = chars[at];
      if (escaped === undefined) return { fault: 'ends with a backslash that escapes nothing' };
      tokens.push({ char: escaped });
    } else if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else tokens.push(char === '?' ? '?' : { char });
  }
  const literal = tokens.map((token) => (typeof token === 'object' && 'char' in token ? token.char : undefined));
  return literal.includes(undefined) ? tokens : { literal: literal.join('') };
}

/**
 * Parses the rest of a character set such as `a-z]`. `at` is the index after the opening bracket, `end` the index of
 * the closing one.
 */
function parseCharacterSet(
  chars: readonly string[],
  at: number,
): { readonly token: Token; readonly end: number } | { readonly fault: string } {
  const negated = chars[at] === '!' || chars[at] === '^';
  const first = negated ? at + 1 : at;
  const ranges: (readonly [string, string])[] = [];
  let next = first;
  /** Returns the next character of the set, or `undefined` at the end of the text. */
  const take = (): string | undefined => {
    if (chars[next] === '\\') next += 1;
    next += 1;
    return chars[next - 1];
  };
  while (chars[next] !== ']' || next === first) {
    if (chars[next] === '[' && chars[next + 1] === ':')
      return { fault: 'has a character class such as `[[:alpha:]]`, which is not supported; write its characters' };
    const from = take();
    if (from === undefined) return { fault: 'has a `[` without a closing `]`; write `\\[` for the character itself' };
    const isRange = chars[next] === '-' && chars[next + 1] !== ']' && chars[next + 1] !== undefined;
    if (isRange) next += 1;
    ranges.push([from, isRange ? (take() ?? from) : from]);
  }
  return { token: { negated, ranges }, end: next };
}

/** Checks whether a path matches the pattern. */
export function matchesGlob({ segments }: Glob, path: readonly PathSegment[], spend: SpendComparisons): boolean {
  return matchList(segments, path, (step) => step === '**', matchSegment, spend);
}

function matchSegment(step: SegmentPattern, { name, chars }: PathSegment, spend: SpendComparisons): boolean {
  if (step === '**') return true;
  if ('literal' in step) return step.literal === name;
  return matchList(step, chars, (token) => token === '*', matchToken, spend);
}

function matchToken(token: Token, char: string, spend: SpendComparisons): boolean {
  if (typeof token === 'string') return true;
  if ('char' in token) return token.char === char;
  spend(token.ranges.length);
  return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated;
}

/**
 * Matches a list of parts against a list of items. A wildcard takes as few items as possible; only the last wildcard
 * ever has to take more. Compares the parts after the last wildcard first, because most names do not match the ending
 * of a pattern such as `*.tmp`.
 */
function matchList<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  isWildcard: (part: Part) => boolean,
  matches: (part: Part, item: Item, spend: SpendComparisons) => boolean,
  spend: SpendComparisons,
): boolean {
  let [last, end] = [parts.length, items.length];
  for (; last > 0 && !isWildcard(parts[last - 1] as Part); last -= 1, end -= 1) {
    spend(1);
    // Both indexes are within bounds.
    if (end === 0 || !matches(parts[last - 1] as Part, items[end - 1] as Item, spend)) return false;
  }
  if (last === 0) return end === 0;
  let [at, item] = [0, 0];
  let wildcard: { readonly at: number; item: number } | undefined;
  // The remaining parts end with a wildcard, which takes the remaining items.
  while (at < last - 1 && item < end) {
    spend(1);
    const part = parts[at] as Part;
    if (isWildcard(part)) {
      wildcard = { at, item };
      at += 1;
    } else if (matches(part, items[item] as Item, spend)) {
      at += 1;
      item += 1;
    } else if (wildcard !== undefined) {
      wildcard.item += 1;
      item = wildcard.item;
      at = wildcard.at + 1;
    } else return false;
  }
  return parts.slice(at, last).every(isWildcard);
}
