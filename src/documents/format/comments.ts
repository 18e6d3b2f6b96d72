import { CST, Lexer } from 'yaml';
import type { Collection, Entry } from './tree.ts';

/** A comment, with its offset in the text. */
export interface Comment {
  readonly offset: number;
  readonly text: string;
}

/** Lexeme that announces a scalar without quotes. The next lexeme is the scalar. */
const scalarMark = CST.SCALAR;

/** Yields the lexemes of a text with their offsets, except the content of scalars without quotes. */
export function* lexemesOf(text: string): Generator<Comment> {
  let offset = 0;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    const isMark = lexeme === scalarMark || lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END;
    if (!isMark && !isScalar) yield { offset, text: lexeme };
    isScalar = lexeme === scalarMark;
    if (!isMark) offset += lexeme.length;
  }
}

/** Returns the comments of a text, in order. */
export function commentsOf(text: string): readonly Comment[] {
  return [...lexemesOf(text)]
    .filter((lexeme) => CST.tokenType(lexeme.text) === 'comment')
    .map(({ offset, text: comment }) => ({ offset, text: comment.trimEnd() }));
}

/** Returns the text with spaces instead of the comments on the lines of these entries. */
export function withoutComments(text: string, entries: readonly Entry[]): string {
  if (entries.length === 0) return text;
  return commentsOf(text).reduce((rest, comment) => {
    const line = text.slice(0, comment.offset).split('\n').length;
    if (!entries.some(({ startLine, endLine }) => startLine <= line && line <= endLine)) return rest;
    const end = comment.offset + comment.text.length;
    return `${rest.slice(0, comment.offset)}${' '.repeat(comment.text.length)}${rest.slice(end)}`;
  }, text);
}

/** Comments and blank lines of a tree, by the entry or collection that they belong to. */
export interface Trivia {
  /** Lines above an entry: comments, and empty strings for blank lines. */
  readonly leading: ReadonlyMap<Entry, readonly string[]>;
  /** The comment on the line of an entry. */
  readonly sameLine: ReadonlyMap<Entry, string>;
  /** Comments after the last entry of a collection. */
  readonly tail: ReadonlyMap<Collection, readonly string[]>;
}

/** An entry and the collection that contains it. */
interface EntryInCollection {
  readonly entry: Entry;
  readonly collection: Collection;
  /** The entry whose value is the collection. Absent at the top. */
  readonly parent: EntryInCollection | undefined;
}

interface AttachmentState {
  readonly text: string;
  /** Offsets at which lines begin. */
  readonly lineStarts: readonly number[];
  /** All entries, in the order of the text. */
  readonly entries: readonly EntryInCollection[];
  readonly root: Collection;
  readonly leading: Map<Entry, string[]>;
  readonly sameLine: Map<Entry, string>;
  readonly tail: Map<Collection, string[]>;
}

/** Assigns each comment and each blank line of a text to an entry or a collection. None is lost. */
export function attachTrivia(text: string, root: Collection): Trivia {
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const state: AttachmentState = {
    ...{ text, lineStarts, entries: [...entriesWithin(root, undefined)], root },
    ...{ leading: new Map(), sameLine: new Map(), tail: new Map() },
  };
  const own = new Map<number, Comment>();
  for (const comment of commentsOf(text)) {
    const line = lastBelow(lineStarts, comment.offset + 1, (start) => start) + 1;
    const before = text.slice(lineStarts[line - 1], comment.offset);
    if (before.trim() === '') own.set(line, comment);
    else attachSameLine(state, comment, line);
  }
  for (const gap of gapsOf(state, own)) attachGap(state, gap);
  return state;
}

function* entriesWithin(collection: Collection, parent: EntryInCollection | undefined): Generator<EntryInCollection> {
  for (const entry of collection.entries) {
    const found = { entry, collection, parent };
    yield found;
    if (entry.value.type === 'collection') yield* entriesWithin(entry.value, found);
  }
}

/**
 * Returns the index of the last element of an ascending list whose number is below a limit, or -1 when there is none.
 */
function lastBelow<Item>(items: readonly Item[], limit: number, numberOf: (item: Item) => number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && numberOf(item) < limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function indexBefore({ entries }: AttachmentState, offset: number): number {
  return lastBelow(entries, offset, ({ entry }) => entry.start);
}

/** Yields an entry and the entries around it, the innermost first. */
function* selfAndAncestors(innermost: EntryInCollection | undefined): Generator<EntryInCollection> {
  for (let one = innermost; one !== undefined; one = one.parent) yield one;
}

/**
 * Attaches a comment that follows other text on its line. It belongs to the innermost entry around it that begins or
 * ends on that line, or else to the entry that began last before it.
 */
function attachSameLine(state: AttachmentState, comment: Comment, line: number): void {
  const { entries, root, leading, sameLine, tail } = state;
  const chain = [...selfAndAncestors(entries[indexBefore(state, comment.offset)])];
  // Skips the entries in brackets that are closed before the comment.
  const closed = chain.findLastIndex(({ collection }) => collection.flow && collection.end <= comment.offset);
  const open = chain.slice(closed + 1);
  const { entry } = open.find((one) => one.entry.startLine === line || one.entry.endLine === line) ?? open[0] ?? {};
  if (entry === undefined) add(tail, root, [comment.text]);
  else if (!sameLine.has(entry)) sameLine.set(entry, comment.text);
  else if (entry.value.type === 'collection') add(tail, entry.value, [comment.text]);
  else add(leading, entry, [comment.text]);
}

/** A line that contains only a comment. `undefined`: a blank line. */
type GapLine = (Comment & { readonly column: number }) | undefined;

/** Consecutive comment lines and blank lines, between lines with content. */
interface Gap {
  readonly first: number;
  readonly last: number;
  readonly lines: readonly GapLine[];
}

function* gapsOf({ text, lineStarts, entries }: AttachmentState, own: ReadonlyMap<number, Comment>): Generator<Gap> {
  const inScalars = new Set(entries.flatMap(({ entry }) => linesInside(entry)));
  let lines: GapLine[] = [];
  for (const [at, start] of [...lineStarts, text.length].entries()) {
    const line = at + 1;
    const comment = own.get(line);
    const isEnd = at === lineStarts.length;
    const isBlank = !isEnd && text.slice(start, lineStarts[at + 1]).trim() === '' && !inScalars.has(line);
    if (comment !== undefined || isBlank) {
      lines.push(comment && { ...comment, column: comment.offset - start + 1 });
      continue;
    }
    if (lines.length > 0) yield { first: line - lines.length, last: line - 1, lines };
    lines = [];
  }
}

/** Returns the line numbers of a scalar that spans several lines. */
function linesInside({ value, startLine, endLine }: Entry): readonly number[] {
  if (value.type === 'collection' || value.lines.length < 2) return [];
  return Array.from({ length: endLine - startLine + 1 }, (_, at) => startLine + at);
}

function attachGap(state: AttachmentState, gap: Gap): void {
  const { entries, leading, tail } = state;
  const at = indexBefore(state, state.lineStarts[gap.first - 1] ?? 0);
  const before = entries[at];
  const next = entries[at + 1];
  const around = [...selfAndAncestors(before)].find(({ entry }) => entry.endLine > gap.last)?.entry;
  const isNextWithin = [...selfAndAncestors(next)].some(({ collection }) => collection === around?.value);
  if (around?.value.type === 'scalar') add(leading, around, textsOf(gap.lines));
  else if (around?.value.flow === true && !isNextWithin) add(tail, around.value, textsOf(gap.lines));
  else {
    const split = next?.collection.flow === true ? 0 : countLinesOfPrevious(gap, next);
    attachTails(state, gap.lines.slice(0, split), before, next);
    if (next !== undefined) add(leading, next.entry, textsOf(gap.lines.slice(split)));
  }
}

/**
 * Returns how many lines of a gap belong to the entry before it: the lines up to the last comment that is indented
 * further than the next entry.
 */
function countLinesOfPrevious({ lines }: Gap, next: EntryInCollection | undefined): number {
  if (next === undefined) return lines.length;
  const end = lines.findIndex((line) => line !== undefined && line.column <= next.collection.column);
  const deeper = lines.slice(0, end < 0 ? lines.length : end);
  return deeper.findLastIndex((line) => line !== undefined) + 1;
}

/** Attaches each comment to the innermost collection that ended before it and is not indented further than it. */
function attachTails(
  { root, leading, tail }: AttachmentState,
  lines: readonly GapLine[],
  before: EntryInCollection | undefined,
  next: EntryInCollection | undefined,
): void {
  const open = new Set([...selfAndAncestors(next)].map(({ collection }) => collection));
  const ended = [...selfAndAncestors(before)]
    .map(({ collection }) => collection)
    .filter((one) => !one.flow && !open.has(one));
  let blank: readonly string[] = [];
  for (const line of lines) {
    if (line === undefined) {
      blank = [''];
      continue;
    }
    const within = ended.find(({ column }) => column <= line.column);
    if (within !== undefined) add(tail, within, [...blank, line.text]);
    else if (next !== undefined) add(leading, next.entry, [...blank, line.text]);
    else add(tail, root, [...blank, line.text]);
    blank = [];
  }
}

/** Returns the text of each line. Consecutive blank lines become one. */
function textsOf(lines: readonly GapLine[]): readonly string[] {
  return lines.flatMap((line, at) => {
    if (line !== undefined) return [line.text];
    return at > 0 && lines[at - 1] === undefined ? [] : [''];
  });
}

function add<Key>(lines: Map<Key, string[]>, key: Key, added: readonly string[]): void {
  const known = lines.get(key);
  if (known === undefined) lines.set(key, [...added]);
  else known.push(...added);
}
