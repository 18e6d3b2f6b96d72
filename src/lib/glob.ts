/**
 * Patterns of paths as `.gitignore` writes them. They come from repositories of tenants, so they are matched step by step and
 * not by regular expressions: `*a*a*a…` makes those try every way to split a path. Here only the last `*` is ever moved,
 * which finds a match whenever there is one, and every step is counted.
 */
export interface Glob {
  /** A path that matches is read all the same. */
  readonly negated: boolean;
  /** It means directories, with all that is in them, and no files. */
  readonly directoryOnly: boolean;
  readonly steps: readonly Step[];
}

/** What one step of a path must be; `**` stands for any number of steps. */
type Step = '**' | { readonly literal: string } | readonly Token[];

type Token =
  | '*'
  | '?'
  | { readonly char: string }
  | { readonly negated: boolean; readonly ranges: readonly (readonly [from: string, to: string])[] };

/** Called for each comparison, or for several of them; it may throw to end the matching. */
export type Spend = (comparisons: number) => void;

/** One step of a path, with its characters. */
export interface PathStep {
  readonly name: string;
  readonly chars: readonly string[];
}

/** A path by its steps. */
export function stepsOfPath(path: string): readonly PathStep[] {
  return path.split('/').map((name) => ({ name, chars: [...name] }));
}

/** The longest pattern, in characters. */
export const longestGlob = 500;

/** Reads one line of patterns: nothing for a blank line or a comment. */
export function parseGlob(line: string): Glob | { readonly fault: string } | undefined {
  const text = withoutTrailingBlanks(line);
  if (text === '' || text.startsWith('#')) return undefined;
  if (text.length > longestGlob) return { fault: `has more than ${longestGlob} characters` };
  const negated = text.startsWith('!');
  const directoryOnly = text.endsWith('/');
  const body = text.slice(negated ? 1 : 0, directoryOnly ? -1 : undefined);
  if (body === '' || body === '/') return { fault: 'names nothing' };
  const parts = body.replace(/^\//, '').split('/');
  const steps: Step[] = [];
  // A name without a slash is looked for in every directory.
  if (!body.includes('/') && body !== '**') steps.push('**');
  for (const part of parts) {
    const step = parseStep(part);
    if (typeof step === 'object' && 'fault' in step) return step;
    if (step !== '**' || steps.at(-1) !== '**') steps.push(step);
  }
  // What is below a directory, and not the directory itself.
  if (steps.at(-1) === '**') steps.push(['*']);
  return { negated, directoryOnly, steps };
}

/** Blanks at the end mean nothing unless a backslash stands before them. */
function withoutTrailingBlanks(line: string): string {
  const text = line.replace(/\r$/, '');
  let end = text.length;
  while (end > 0 && /[ \t]/.test(text.charAt(end - 1)) && text.charAt(end - 2) !== '\\') end -= 1;
  return text.slice(0, end);
}

function parseStep(text: string): Step | { readonly fault: string } {
  if (text === '**') return '**';
  if (text === '' || text === '.' || text === '..')
    return { fault: `has the step \`${text}\`, which no path of a file has` };
  const chars = [...text];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? '';
    if (char === '[') {
      const set = parseSet(chars, at + 1);
      if ('fault' in set) return set;
      tokens.push(set.token);
      at = set.end;
    } else if (char === '\\') {
      at += 1;
      const escaped = chars[at];
      if (escaped === undefined) return { fault: 'ends with a backslash that nothing follows' };
      tokens.push({ char: escaped });
    } else if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*');
    } else tokens.push(char === '?' ? '?' : { char });
  }
  const literal = tokens.map((token) => (typeof token === 'object' && 'char' in token ? token.char : undefined));
  return literal.includes(undefined) ? tokens : { literal: literal.join('') };
}

/** Reads `a-z]` and the like; `at` is behind the bracket, `end` at the closing one. */
function parseSet(
  chars: readonly string[],
  at: number,
): { readonly token: Token; readonly end: number } | { readonly fault: string } {
  const negated = chars[at] === '!' || chars[at] === '^';
  const first = negated ? at + 1 : at;
  const ranges: (readonly [string, string])[] = [];
  let next = first;
  /** One character of the set, `undefined` at the end of the text. */
  const take = (): string | undefined => {
    if (chars[next] === '\\') next += 1;
    next += 1;
    return chars[next - 1];
  };
  while (chars[next] !== ']' || next === first) {
    if (chars[next] === '[' && chars[next + 1] === ':')
      return { fault: 'has a named set such as `[[:alpha:]]`; write its characters' };
    const from = take();
    if (from === undefined) return { fault: 'has a `[` without its `]`; write `\\[` for the character' };
    const isRange = chars[next] === '-' && chars[next + 1] !== ']' && chars[next + 1] !== undefined;
    if (isRange) next += 1;
    ranges.push([from, isRange ? (take() ?? from) : from]);
  }
  return { token: { negated, ranges }, end: next };
}

/** Whether a path matches. */
export function matchesGlob({ steps }: Glob, path: readonly PathStep[], spend: Spend): boolean {
  return matchList(steps, path, (step) => step === '**', matchStep, spend);
}

function matchStep(step: Step, { name, chars }: PathStep, spend: Spend): boolean {
  if (step === '**') return true;
  if ('literal' in step) return step.literal === name;
  return matchList(step, chars, (token) => token === '*', matchToken, spend);
}

function matchToken(token: Token, char: string, spend: Spend): boolean {
  if (typeof token === 'string') return true;
  if ('char' in token) return token.char === char;
  spend(token.ranges.length);
  return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated;
}

/**
 * Matches one by one; a wildcard takes as few as it can, and only the last one ever has to take more. The end comes first:
 * most names do not end as `*.tmp` does.
 */
function matchList<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  isWildcard: (part: Part) => boolean,
  matches: (part: Part, item: Item, spend: Spend) => boolean,
  spend: Spend,
): boolean {
  let [last, end] = [parts.length, items.length];
  for (; last > 0 && !isWildcard(parts[last - 1] as Part); last -= 1, end -= 1) {
    spend(1);
    // Both are below the lengths.
    if (end === 0 || !matches(parts[last - 1] as Part, items[end - 1] as Item, spend)) return false;
  }
  if (last === 0) return end === 0;
  let [at, item] = [0, 0];
  let wildcard: { readonly at: number; item: number } | undefined;
  // What is left ends with a wildcard, which takes the rest.
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
