import { isMap, isSeq } from 'yaml';
import { equalJson, type Json } from '../../lib/json.ts';
import type { Registry } from '../../model/declare/registry.ts';
import type { SourceFile } from '../../model/document.ts';
import type { Problem } from '../../model/problem.ts';
import { normalizeText } from '../digest.ts';
import { describeForeignObject } from '../foreign-value.ts';
import { readFile } from '../read.ts';
import { readJsonText } from '../yaml/json-text.ts';
import type { ParseOptions } from '../yaml/yaml.ts';
import { readYamlStream } from '../yaml/yaml-text.ts';
import { attachTrivia, commentsOf, lexemesOf, withoutComments } from './comments.ts';
import { type Edits, editTree, editValue, findEdits, type Renames, removedEntries } from './edits.ts';
import { findAppliedNames, type IsApplied } from './previous-names.ts';
import { printJson, printTree } from './print.ts';
import { documentShape } from './shape.ts';
import { treeOf } from './tree.ts';

/** Options of the formatter. */
export interface FormatOptions {
  readonly registry: Registry;
  /**
   * When present, former names are replaced by current ones, and so are references to the previous keys of these
   * documents.
   */
  readonly fix?: Renames;
  /** Previous names for which this function returns true are removed. */
  readonly isApplied?: IsApplied;
}

/** Result of formatting a file. */
export type FormatResult =
  | { readonly type: 'formatted'; readonly text: string }
  /** The file contains no documents. */
  | { readonly type: 'ignored' }
  /** The documents cannot be rewritten without a loss. `reason` is worded as the end of a sentence. */
  | { readonly type: 'kept'; readonly reason: string }
  | { readonly type: 'problems'; readonly problems: readonly Problem[] };

/** Formats the documents of a file in canonical form. Their meaning is unchanged, and every comment is kept. */
export function formatFile(file: SourceFile, options: FormatOptions): FormatResult {
  const text = normalizeText(file.text);
  const { documents, problems } = readFile(file);
  const failed = { type: 'problems', problems } as const;
  if (problems.length > 0 && options.fix === undefined) return failed;
  if (documents.length + problems.length === 0) return { type: 'ignored' };
  if (text.includes('\r'))
    return { type: 'kept', reason: 'it contains carriage returns that do not end a line; remove them' };
  const formatted = isJsonFile(file, text) ? formatJson(text, options) : formatStream(text, options);
  if (formatted === undefined) return failed;
  if (typeof formatted !== 'string') return formatted;
  // The edits may have repaired the problems of the file.
  if (problems.length > 0 && readFile({ ...file, text: formatted }).problems.length > 0) return failed;
  return { type: 'formatted', text: file.text.includes('\r\n') ? formatted.replaceAll('\n', '\r\n') : formatted };
}

function isJsonFile({ path }: SourceFile, text: string): boolean {
  return path.endsWith('.json') || (path === '-' && readJsonText(text) !== undefined);
}

type KeptResult = Extract<FormatResult, { readonly type: 'kept' }>;

function formatJson(text: string, options: FormatOptions): string | KeptResult {
  const read = readJsonText(text);
  if (read === undefined)
    return { type: 'kept', reason: 'its name ends with .json but it contains YAML; rename it to .yaml' };
  const edits = editsOf(read.value, options);
  const value = editValue(edits, read.value);
  const written = printJson(value, documentShape(options.registry, value));
  return edits.size === 0 ? written : formatJson(written, options);
}

/** Formats a YAML stream. Returns `undefined` when the text cannot be parsed. */
function formatStream(text: string, options: FormatOptions): string | KeptResult | undefined {
  const { startsWithSeparator, texts } = splitSections(text);
  const written: string[] = [];
  let edited = false;
  for (const section of texts) {
    const formatted = formatSection(section, options);
    if (formatted === undefined || 'type' in formatted) return formatted;
    written.push(formatted.text);
    edited ||= formatted.edited;
  }
  const joined = joinSections({ startsWithSeparator, texts: written });
  // Former names inside a renamed member are found only under its current name.
  return edited ? formatStream(joined, options) : joined;
}

interface FormattedSection {
  readonly text: string;
  readonly edited: boolean;
}

/** Formats one YAML document, without the `---` line that separates it from other documents. */
function formatSection(text: string, options: FormatOptions): FormattedSection | KeptResult | undefined {
  const { documents: values, problems, parsed } = readValues(text, { keepSourceTokens: true });
  if (problems.length > 0 || parsed === undefined) return undefined;
  const [value] = values;
  if (value === undefined || describeForeignObject(value) !== undefined) return { text: verbatim(text), edited: false };
  const root = parsed.documents[0]?.contents;
  if (!isMap(root) && !isSeq(root)) return { text: verbatim(text), edited: false };
  const edits = editsOf(value, options);
  const whole = treeOf(parsed, root);
  const tree = editTree(edits, whole);
  const kept = withoutComments(text, [...removedEntries(edits, whole)]);
  const meant = editValue(edits, value);
  const written = printTree(tree, attachTrivia(kept, tree), documentShape(options.registry, meant));
  const isCanonical = edits.size === 0 && values.length === 1 && written === text.replace(/^\n/, '');
  return isCanonical || isFaithful(kept, written, meant) ? { text: written, edited: edits.size > 0 } : unfaithful;
}

const unfaithful: KeptResult = {
  type: 'kept',
  reason:
    'formatting would lose a comment or a text, or change its meaning; write it in block style, one member per line',
};

/** Returns whether `after` has the value `meant` and every comment of `before`. The last safeguard against a loss. */
function isFaithful(before: string, after: string, meant: Json): boolean {
  const read = readValues(after);
  const [value, ...others] = read.problems.length > 0 ? [] : read.documents;
  const comments = (text: string) => commentsOf(text).map((comment) => comment.text);
  return others.length === 0 && equalJson(value, meant) && equalJson(comments(before).sort(), comments(after).sort());
}

function editsOf(value: Json, { registry, fix, isApplied }: FormatOptions): Edits {
  const named = fix === undefined ? [] : findEdits(registry, fix, value);
  return new Map([...named, ...(isApplied === undefined ? [] : findAppliedNames(isApplied, value))]);
}

function readValues(text: string, options?: ParseOptions) {
  return readYamlStream(text, '', ({ value }) => ({ documents: [value], problems: [] }), options);
}

/**
 * Returns a text that is not a Heddle document. Only a blank first line is removed, and a missing final line break is
 * added.
 */
function verbatim(text: string): string {
  const whole = text.replace(/^[ \t]*\n/, '');
  return whole.endsWith('\n') ? whole : `${whole}\n`;
}

/** The texts of a YAML stream, split at the lines that separate its documents. */
interface Sections {
  /** Whether the stream begins with a `---` line. */
  readonly startsWithSeparator: boolean;
  readonly texts: readonly string[];
}

/** Splits a stream at its `---` and `...` lines. */
function splitSections(text: string): Sections {
  const texts: string[] = [];
  let start = 0;
  let marked = false;
  for (const { offset, text: lexeme } of lexemesOf(text)) {
    if (lexeme !== '---' && lexeme !== '...') continue;
    const before = text.slice(start, offset);
    if (before.trim() !== '') texts.push(before);
    else if (lexeme === '---' && texts.length === 0) marked = true;
    start = offset + lexeme.length;
  }
  const last = text.slice(start);
  return { startsWithSeparator: marked, texts: last.trim() === '' ? texts : [...texts, last] };
}

/** Joins the texts of a stream with `---` lines. */
function joinSections({ startsWithSeparator, texts }: Sections): string {
  return (startsWithSeparator ? ['', ...texts] : texts).join('---\n');
}
