import type { DocumentPosition, SourceFile } from '../model/document.ts';
import { normalizeText } from './digest.ts';
import { type Position, pointerTo, positionOf } from './position.ts';
import { type ParsedYaml, parseYaml } from './yaml/yaml.ts';

/** Returns the position of a JSON pointer in a document, or the position of its nearest existing ancestor. */
export type Locator = (documentPosition: DocumentPosition, pointer: string) => Position;

/**
 * Returns the line and column of a JSON pointer such as `/spec/rules/0/ports/1`, and the literal text when the value is
 * a scalar.
 */
export function locate(file: SourceFile, documentPosition: DocumentPosition, pointer: string): Position {
  return createLocator([file])(documentPosition, pointer);
}

/**
 * Creates a locator for these files. Documents keep no positions, which would need more memory than the values. The
 * locator therefore parses the YAML document around a position again: only that document, and once for all positions in
 * it.
 */
export function createLocator(files: readonly SourceFile[], parse: (text: string) => ParsedYaml = parseYaml): Locator {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  const parsedSections = createSectionCache(parse);
  const normalized = new Map<string, TextLines>();
  return (documentPosition, pointer) => {
    const text = texts.get(documentPosition.file);
    if (text === undefined) return { line: documentPosition.line, column: 1 };
    const lines = normalized.get(documentPosition.file) ?? splitLines(text);
    normalized.set(documentPosition.file, lines);
    const section = sectionAround(lines, documentPosition.line);
    const parsed = parsedSections(documentPosition.file, section);
    const root = parsed.documents.at(0)?.contents ?? null;
    const position = positionOf(parsed, root, documentPosition.pointer + pointer);
    return { ...position, line: position.line + section.firstLine - 1 };
  };
}

interface TextLines {
  readonly text: string;
  /** Offsets at which lines begin. */
  readonly starts: readonly number[];
  /** 1-based numbers of the lines that separate documents, ascending. */
  readonly separators: readonly number[];
}

function splitLines(original: string): TextLines {
  const text = normalizeText(original);
  const starts = [0];
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  const separators = starts.flatMap((start, index) => (isSeparator(text, start) ? [index + 1] : []));
  return { text, starts, separators };
}

/**
 * Returns whether a line separates documents. `---` or `...` at the beginning of a line always does, even inside a
 * block text.
 */
function isSeparator(text: string, start: number): boolean {
  const mark = text.slice(start, start + 3);
  return (mark === '---' || mark === '...') && /^\s?$/.test(text.slice(start + 3, start + 4));
}

interface Section {
  readonly firstLine: number;
  readonly text: string;
}

function sectionAround({ text, starts, separators }: TextLines, line: number): Section {
  const next = firstAbove(separators, line);
  const firstLine = separators[next - 1] ?? 1;
  const endLine = separators[next];
  const end = endLine === undefined ? text.length : starts[endLine - 1];
  return { firstLine, text: text.slice(starts[firstLine - 1], end) };
}

/** Returns the index of the first number above the limit in an ascending list. */
function firstAbove(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

const cachedCharacters = 4 * 1024 * 1024;

/**
 * Creates a cache of the texts that were parsed last, bounded by their length: a parsed text needs a hundred times its
 * length in memory.
 */
function createSectionCache(parse: (text: string) => ParsedYaml): (file: string, section: Section) => ParsedYaml {
  const cache = new Map<string, ParsedYaml>();
  let characters = 0;
  return (file, section) => {
    const id = pointerTo(pointerTo('', section.firstLine), file);
    const known = cache.get(id);
    if (known !== undefined) return known;
    const parsed = parse(section.text);
    cache.set(id, parsed);
    characters += section.text.length;
    for (const [oldest, { text }] of cache) {
      if (characters <= cachedCharacters || oldest === id) break;
      cache.delete(oldest);
      characters -= text.length;
    }
    return parsed;
  };
}
