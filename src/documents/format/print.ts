import { isObject, type Json } from '../../lib/json.ts';
import type { Trivia } from './comments.ts';
import type { ScalarText } from './scalars.ts';
import { type Shape, shapeWithin } from './shape.ts';
import type { Collection, Entry } from './tree.ts';

/**
 * Maximum length of a line that contains a list or map in brackets, in characters. A longer list or map is written on
 * several lines.
 */
const maxLineLength = 120;

const step = '  ';

/** Prints a tree with its comments. Members are in the order of their shape. */
export function printTree(root: Collection, trivia: Trivia, shape: Shape): string {
  const [first] = root.entries;
  const header = (first === undefined ? undefined : trivia.leading.get(first)) ?? [];
  // A comment above a document is about the whole document, so it stays at the top when the members are reordered.
  const below = { ...trivia, leading: new Map(trivia.leading) };
  if (first !== undefined) below.leading.delete(first);
  const lines = [...trimBlankLines(header, 'first'), ...printCollection(below, root, shape, '')];
  return lines.map((line) => `${line}\n`).join('');
}

function printCollection(trivia: Trivia, collection: Collection, shape: Shape, indent: string): readonly string[] {
  const lines: string[] = [];
  let dropsBlanks = true;
  // Blank lines are dropped at the start, and after a block text that would include them in its value.
  const append = (added: readonly string[]) => {
    for (const line of dropsBlanks ? trimBlankLines(added, 'first') : added) lines.push(line);
  };
  for (const [at, entry] of sortEntries(collection, shape).entries()) {
    const within = shapeOfEntry(shape, entry, at);
    append(printEntry(trivia, entry, within, indent));
    dropsBlanks = keepsBlanks(entry.value, within);
  }
  append(trimBlankLines(trivia.tail.get(collection) ?? [], 'last').map((line) => indented(indent, line)));
  return lines;
}

/** Returns whether the value ends with a block text that would include the blank lines after it. */
function keepsBlanks(value: Entry['value'], shape: Shape): boolean {
  if (value.type === 'scalar') return value.block && value.lines[0]?.endsWith('+') === true;
  const entries = sortEntries(value, shape);
  const last = entries.at(-1);
  return last !== undefined && keepsBlanks(last.value, shapeOfEntry(shape, last, entries.length - 1));
}

/** Returns the members that the shape names, in its order, then the other members in their current order. */
function sortEntries({ style, entries }: Collection, { members = {} }: Shape): readonly Entry[] {
  if (style === 'list') return entries;
  const names = Object.keys(members);
  const rank = ({ key }: Entry) => {
    const at = names.indexOf(key?.name ?? '');
    return at < 0 ? names.length : at;
  };
  return entries.toSorted((a, b) => rank(a) - rank(b));
}

function shapeOfEntry(shape: Shape, { key }: Entry, at: number): Shape {
  return shapeWithin(shape, key?.name ?? at);
}

function printEntry(trivia: Trivia, entry: Entry, shape: Shape, indent: string): readonly string[] {
  const { key, value } = entry;
  const leading = trivia.leading.get(entry) ?? [];
  const head = `${indent}${key === undefined ? '-' : `${key.text}:`}`;
  const comment = trivia.sameLine.get(entry);
  const lines =
    value.type === 'scalar'
      ? printScalar(value, head, comment, indent)
      : printNested(trivia, value, shape, { head, comment, indent });
  return [...leading.map((line) => indented(indent, line)), ...lines];
}

function printScalar(
  { lines, block }: ScalarText,
  head: string,
  comment: string | undefined,
  indent: string,
): readonly string[] {
  const [first = '', ...others] = lines;
  const start = first === '' ? head : `${head} ${first}`;
  const rest = others.map((line) => indented(indent + step, line));
  if (block || rest.length === 0) return [commented(start, comment), ...rest];
  return [start, ...rest.slice(0, -1), commented(rest.at(-1) ?? '', comment)];
}

interface PrintPosition {
  readonly head: string;
  readonly comment: string | undefined;
  readonly indent: string;
}

function printNested(
  trivia: Trivia,
  collection: Collection,
  shape: Shape,
  { head, comment, indent }: PrintPosition,
): readonly string[] {
  const tail = trivia.tail.get(collection) ?? [];
  const inline = inlineText(collection, shape);
  if (collection.entries.length === 0) {
    // An empty collection is written as brackets on one line, so the comments inside the brackets move above that line.
    return [
      ...trimBlankLines(tail, 'both').map((line) => indented(indent, line)),
      commented(`${head} ${inline}`, comment),
    ];
  }
  if (inline !== undefined && `${head} ${inline}`.length <= maxLineLength)
    return [commented(`${head} ${inline}`, comment)];
  const nested = printCollection(trivia, collection, shape, indent + step);
  if (!head.endsWith('-') || comment !== undefined) return [commented(head, comment), ...nested];
  return printOnDashLine(head, indent, nested);
}

/** Prints an item whose value begins on the line of the dash. Comments above its first member move above the dash. */
function printOnDashLine(head: string, indent: string, nested: readonly string[]): readonly string[] {
  const at = nested.findIndex((line) => line !== '' && !line.trimStart().startsWith('#'));
  const above = nested.slice(0, at).map((line) => indented(indent, line.trimStart()));
  return [...above, `${head} ${(nested[at] ?? '').trimStart()}`, ...nested.slice(at + 1)];
}

/**
 * Returns the text in brackets of a collection that is empty, or is in brackets on one line. Returns `undefined` for
 * other collections.
 */
function inlineText(collection: Collection, shape: Shape): string | undefined {
  const { style, flow, entries, startLine, endLine } = collection;
  if (entries.length === 0) return style === 'map' ? '{}' : '[]';
  if (!flow || startLine !== endLine) return undefined;
  const texts = sortEntries(collection, shape).map((entry, at) => {
    const { key, value } = entry;
    const text = value.type === 'scalar' ? value.lines[0] || 'null' : inlineText(value, shapeOfEntry(shape, entry, at));
    return key === undefined ? text : `${key.text}: ${text}`;
  });
  return style === 'map' ? `{ ${texts.join(', ')} }` : `[${texts.join(', ')}]`;
}

function commented(line: string, comment: string | undefined): string {
  return comment === undefined ? line : `${line} ${comment}`;
}

function indented(indent: string, line: string): string {
  return line === '' ? '' : indent + line;
}

function trimBlankLines(lines: readonly string[], ends: 'first' | 'last' | 'both'): readonly string[] {
  const first = ends === 'last' ? 0 : lines.findIndex((line) => line !== '');
  const last = ends === 'first' ? lines.length : lines.findLastIndex((line) => line !== '') + 1;
  return first < 0 ? [] : lines.slice(first, last);
}

/** Prints a value as JSON. Members are in the order of their shape. */
export function printJson(value: Json, shape: Shape): string {
  return `${JSON.stringify(sortMembers(value, shape), null, 2)}\n`;
}

function sortMembers(value: Json, shape: Shape): Json {
  if (Array.isArray(value)) return value.map((item: Json, at) => sortMembers(item, shapeWithin(shape, at)));
  if (!isObject(value)) return value;
  const known = Object.keys(shape.members ?? {}).filter((name) => Object.hasOwn(value, name));
  const others = Object.keys(value).filter((name) => !known.includes(name));
  return Object.fromEntries(
    [...known, ...others].map((name) => [name, sortMembers(value[name] ?? null, shapeWithin(shape, name))]),
  );
}
