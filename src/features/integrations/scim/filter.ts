import { badRequest, type ScimRefusal, type ScimType } from './refusal.ts';

/** Path of an attribute: its name, with the schema and the sub-attribute if the path contains them. */
export interface AttributePath {
  readonly schema?: string;
  readonly name: string;
  readonly sub?: string;
}

/** Operators that compare an attribute with a value. */
export type ComparisonOperator = (typeof comparisonOperators)[number];

/** A value that an attribute is compared with. */
export type Literal = string | number | boolean | null;

/** A filter, see RFC 7644, section 3.4.2.2. */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly op: 'not'; readonly filter: Filter }
  | { readonly op: 'present'; readonly path: AttributePath }
  | { readonly op: 'values'; readonly path: AttributePath; readonly filter: Filter }
  | { readonly op: ComparisonOperator; readonly path: AttributePath; readonly value: Literal };

/** Path of a PATCH operation: an attribute, or those of its values that match a filter. */
export interface PatchPath extends AttributePath {
  readonly filter?: Filter;
}

const comparisonOperators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;

/**
 * Limits of a filter: its length in characters, its depth, and its number of comparisons. No provider sends larger
 * filters.
 */
const maxFilterLength = 8192;
const maxFilterDepth = 32;
const maxComparisons = 100;

/** Parses a filter. Throws `invalidFilter` with the position of the fault. */
export function parseFilter(text: string): Filter {
  const tokens = readTokens(text, 'invalidFilter');
  const filter = readOr(tokens, 0);
  if (tokens.peek() !== undefined) throw tokens.unexpected('`and`, `or` or the end');
  return limitComparisons(filter, 'invalidFilter');
}

function limitComparisons(filter: Filter, scimType: ScimType): Filter {
  const count = countComparisons(filter);
  if (count <= maxComparisons) return filter;
  throw badRequest(scimType, `the filter has ${count} comparisons; the maximum is ${maxComparisons}`);
}

/** Maximum number of comparisons with values that all filters of one PATCH may make together. */
const maxPatchComparisons = 1_000_000;

/** Budget of comparisons for the filters of one PATCH. */
export interface ComparisonBudget {
  /** Throws `tooMany` when the filter needs more comparisons than are left. */
  use(filter: Filter, values: number): void;
}

/** Creates the budget for one PATCH. */
export function createComparisonBudget(): ComparisonBudget {
  let left = maxPatchComparisons;
  return {
    use(filter, values) {
      left -= countComparisons(filter) * values;
      if (left >= 0) return;
      const what = 'the filters compare too many values';
      throw badRequest('tooMany', `${what}; select the entries to change by their \`value\`, or send less at once`);
    },
  };
}

/** Returns the maximum number of comparisons that a filter makes for one resource, or for one value. */
function countComparisons(filter: Filter): number {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.filters.reduce((count, part) => count + countComparisons(part), 0);
    case 'not':
    case 'values':
      return countComparisons(filter.filter);
    default:
      return 1;
  }
}

/** Parses the path of a PATCH operation. Throws `invalidPath` with the position of the fault. */
export function parsePath(text: string): PatchPath {
  const tokens = readTokens(text, 'invalidPath');
  const path = readAttributePath(tokens, tokens.next()?.text ?? '');
  if (tokens.peek()?.text !== '[') {
    if (tokens.peek() !== undefined) throw tokens.unexpected('the end');
    return path;
  }
  tokens.next();
  const filter = limitComparisons(readOr(tokens, 0), 'invalidPath');
  tokens.take(']');
  const sub = tokens.next()?.text;
  if (sub !== undefined && (!/^\.[A-Za-z$][\w$-]*$/.test(sub) || path.sub !== undefined || tokens.peek() !== undefined))
    throw tokens.unexpected('the end, or `.` and the name of a sub-attribute');
  return { ...path, filter, ...(sub === undefined ? {} : { sub: sub.slice(1) }) };
}

interface Token {
  readonly text: string;
  readonly at: number;
}

interface Tokens {
  peek(): Token | undefined;
  next(): Token | undefined;
  take(text: string): void;
  unexpected(expected: string): ScimRefusal;
}

/** Each match consumes at least one character, so parsing takes time linear in the length. */
const tokenPattern = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;

function readTokens(text: string, scimType: ScimType): Tokens {
  const what = scimType === 'invalidPath' ? 'path' : 'filter';
  if (text.length > maxFilterLength)
    throw badRequest(scimType, `the ${what} has more than ${maxFilterLength} characters`);
  const found: Token[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at;
    const [match] = tokenPattern.exec(text) ?? [];
    if (match === undefined)
      throw badRequest(
        scimType,
        `the ${what} has a text without a closing quote, at character ${text.indexOf('"', at) + 1}`,
      );
    found.push({ text: match.trimStart(), at: at + match.length - match.trimStart().length });
  }
  let next = 0;
  const unexpected = (expected: string): ScimRefusal => {
    const token = found[Math.max(next - 1, 0)];
    const last = found[next] ?? token;
    const where = last === undefined ? 'it is empty' : `at character ${last.at + 1}, \`${last.text.slice(0, 50)}\``;
    return badRequest(scimType, `the ${what} cannot be read: ${where}; expected ${expected}`);
  };
  return {
    peek: () => found[next],
    next: () => found[next++],
    take(expected) {
      if (found[next]?.text !== expected) throw unexpected(`\`${expected}\``);
      next += 1;
    },
    unexpected,
  };
}

function readOr(tokens: Tokens, depth: number): Filter {
  return readChain(tokens, 'or', () => readChain(tokens, 'and', () => readTerm(tokens, depth)));
}

function readChain(tokens: Tokens, op: 'and' | 'or', read: () => Filter): Filter {
  const filters = [read()];
  while (tokens.peek()?.text.toLowerCase() === op) {
    tokens.next();
    filters.push(read());
  }
  const [only] = filters;
  return filters.length === 1 && only !== undefined ? only : { op, filters };
}

function readTerm(tokens: Tokens, depth: number): Filter {
  if (depth > maxFilterDepth) throw tokens.unexpected(`at most ${maxFilterDepth} nested brackets`);
  const token = tokens.next();
  const word = token?.text ?? '';
  if (word === '(') {
    const filter = readOr(tokens, depth + 1);
    tokens.take(')');
    return filter;
  }
  if (word.toLowerCase() === 'not' && tokens.peek()?.text === '(') {
    tokens.next();
    const filter = readOr(tokens, depth + 1);
    tokens.take(')');
    return { op: 'not', filter };
  }
  const path = readAttributePath(tokens, word);
  if (tokens.peek()?.text !== '[') return readComparison(tokens, path);
  tokens.next();
  const filter = readOr(tokens, depth + 1);
  tokens.take(']');
  return { op: 'values', path, filter };
}

function readComparison(tokens: Tokens, path: AttributePath): Filter {
  const word = tokens.peek()?.text.toLowerCase() ?? '';
  if (word === 'pr') {
    tokens.next();
    return { op: 'present', path };
  }
  const op = comparisonOperators.find((name) => name === word);
  if (op === undefined) throw tokens.unexpected(`an operator: ${comparisonOperators.join(', ')} or pr`);
  tokens.next();
  return { op, path, value: readLiteral(tokens) };
}

function readLiteral(tokens: Tokens): Literal {
  const text = tokens.peek()?.text ?? '';
  const expected = 'a value: a text in quotes, a number, `true`, `false` or `null`';
  // Some providers write `True`.
  const word = /^(true|false|null)$/i.test(text) ? text.toLowerCase() : text;
  if (!/^(".*"|-?\d{1,15}(\.\d{1,15})?|true|false|null)$/s.test(word)) throw tokens.unexpected(expected);
  try {
    const value: Literal = JSON.parse(word);
    tokens.next();
    return value;
  } catch {
    throw tokens.unexpected(expected);
  }
}

const namePattern = /^(?:(urn:[\w.:-]+):)?([A-Za-z$][\w$-]*)(?:\.([A-Za-z$][\w$-]*))?$/i;

function readAttributePath(tokens: Tokens, word: string): AttributePath {
  // The name of a schema contains a version with a dot, such as `2.0`. That dot does not start a sub-attribute.
  const match = namePattern.exec(word);
  if (match === null) throw tokens.unexpected('the name of an attribute');
  const [, schema, name = '', sub] = match;
  return { name, ...(schema === undefined ? {} : { schema }), ...(sub === undefined ? {} : { sub }) };
}
