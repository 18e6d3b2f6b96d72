import { isScalar, Lexer, type YAMLError, type Document as YamlDocument } from 'yaml';
import { type Problem, shortenProblem, sortProblems } from '../../model/problem.ts';
import { limits } from '../limits.ts';
import { type ReadResult, readItems, separateItems } from '../objects.ts';
import { positionAt, positionOf } from '../position.ts';
import { type ItemsResult, maxPathLength, type StatedObject } from '../stated.ts';
import { truncate } from '../truncate.ts';
import { conflictFault, findConflicts } from './conflict-markers.ts';
import { syntaxFault } from './syntax.ts';
import type { Fault } from './values.ts';
import { type NodeBudget, walk } from './walk.ts';
import { type ParsedYaml, type ParseOptions, parseYaml } from './yaml.ts';

interface Reading {
  readonly parsed: ParsedYaml;
  readonly file: string;
  readonly budget: NodeBudget;
}

/** Reads a normalised text as a stream of YAML documents. Every problem has a position. */
export function readYamlText(text: string, file: string): ReadResult {
  return separateItems(readYamlStream(text, file, readItems));
}

/** Result of reading a stream. `parsed` is absent when the text was refused before parsing. */
type StreamResult<Item> = ItemsResult<Item> & { readonly parsed?: ParsedYaml };

/** Reads a normalised text as a stream of YAML values. `take` converts each value to items. */
export function readYamlStream<Item>(
  text: string,
  file: string,
  take: (stated: StatedObject) => ItemsResult<Item>,
  options: ParseOptions = {},
): StreamResult<Item> {
  if (hasMoreValuesThan(text, limits.fileNodes)) return { documents: [], problems: [tooManyNodes(file)] };
  const conflicts = findConflicts(text);
  if (conflicts.length > 0) return { documents: [], problems: conflicts.map((at) => conflictAt(text, file, at)) };
  const parsed = parseYaml(text, options);
  const reading = { parsed, file, budget: { left: limits.fileNodes } };
  const problems: Problem[] = [...streamProblems(reading)];
  const documents: Item[] = [];
  for (const [index, document] of parsed.documents.entries()) {
    const result = readYamlDocument(reading, document, index, take);
    // Not `push(...many)`: 100,000 arguments would overflow the stack.
    for (const problem of result.problems) problems.push(problem);
    for (const document of result.documents) documents.push(document);
    if (reading.budget.left < 0) return { documents: [], problems: [tooManyNodes(file)] };
  }
  // Shortened here already, because threads copy the problems and a cache keeps them.
  return { documents, problems: sortProblems(limitProblems(problems, file).map(shortenProblem)), parsed };
}

/** Returns the problems of the file as a whole. */
function streamProblems(reading: Reading): readonly Problem[] {
  const { text, documents } = reading.parsed;
  const problems: Problem[] = [];
  const mark = text.indexOf('\ufeff');
  if (mark >= 0) {
    const message =
      'There is a byte order mark (U+FEFF) inside the file; remove it, or write it as "\\uFEFF" in double quotes.';
    problems.push(problemAt(reading, { code: 'yaml_byte_order_mark', message }, mark));
  }
  // A directive stays in force for later documents, so it is reported once.
  if (documents.some(hasDirective)) {
    const message =
      'YAML directives (`%YAML`, `%TAG`) are not allowed; remove the line, documents are always YAML 1.2.';
    problems.push(problemAt(reading, { code: 'yaml_directive', message }, Math.max(0, text.search(/^%/m))));
  }
  return problems;
}

function hasDirective(document: YamlDocument.Parsed): boolean {
  const { yaml, tags } = document.directives;
  return yaml.explicit === true || Object.keys(tags).length > 1;
}

function readYamlDocument<Item>(
  reading: Reading,
  document: YamlDocument.Parsed,
  index: number,
  take: (stated: StatedObject) => ItemsResult<Item>,
): ItemsResult<Item> {
  const { parsed, file } = reading;
  const root = document.contents;
  const errors = syntaxProblems(reading, document.errors);
  // The value of a text with syntax errors is a guess, so further problems in it are not reported.
  if (errors.length > 0 || root === null) return { documents: [], problems: errors };
  const faults: Problem[] = [];
  const value = walk(root, reading.budget, (fault, pointer, offset) => {
    if (faults.length > limits.fileProblems) return;
    faults.push({ ...problemAt(reading, fault, offset), path: truncate(pointer, maxPathLength) });
  });
  for (const problem of syntaxProblems(reading, document.warnings, faults)) faults.push(problem);
  if (faults.length === 0 && isEmptyDocument(root)) return { documents: [], problems: [] };
  const { line } = positionAt(parsed, root.range[0]);
  const where = (pointer: string) => positionOf(parsed, root, pointer);
  const result = take({ value, file, line, index, pointer: '', locate: where });
  if (faults.length === 0) return result;
  // A refused node has no value, so a second problem at the same path would only report that missing value.
  const spoiled = new Set(faults.map((fault) => fault.path));
  const further = result.problems.filter((problem) => !spoiled.has(problem.path));
  return { documents: [], problems: [...faults, ...further] };
}

/**
 * Returns whether there is nothing between two separators, or only comments, which is not a document. A written `null`
 * or `~` is an invalid document.
 */
function isEmptyDocument(root: unknown): boolean {
  return isScalar(root) && root.value === null && root.source === '';
}

/**
 * Returns only the first problem of each line: the parser reports errors that follow from it, and warns of tags that
 * `walk` refuses too.
 */
function syntaxProblems(
  reading: Reading,
  errors: readonly YAMLError[],
  known: readonly Problem[] = [],
): readonly Problem[] {
  const seen = new Set(known.map(({ line }) => line));
  const problems: Problem[] = [];
  for (const error of errors) {
    const { line } = positionAt(reading.parsed, error.pos[0]);
    // A line may contain 100,000 errors, and wording one error examines its whole line.
    if (seen.has(line)) continue;
    seen.add(line);
    const { offset = error.pos[0], ...fault } = syntaxFault(error, reading.parsed.text);
    problems.push(problemAt(reading, fault, offset));
    // After a line with wrong indentation, the parser reports many errors in text that is correct.
    if (fault.code === 'yaml_indentation') break;
    if (problems.length > limits.fileProblems) break;
  }
  return problems;
}

function problemAt(reading: Reading, fault: Fault, offset: number): Problem {
  const { line, column } = positionAt(reading.parsed, offset);
  return { ...fault, path: '', file: reading.file, line, column };
}

function limitProblems(problems: readonly Problem[], file: string): readonly Problem[] {
  if (problems.length <= limits.fileProblems) return problems;
  const reported = problems.slice(0, limits.fileProblems);
  const message = `The file has more problems than these ${limits.fileProblems}; fix these first.`;
  return [...reported, { ...reported.at(-1), code: 'file_too_many_problems', message, file, path: '' }];
}

function conflictAt(text: string, file: string, offset: number): Problem {
  const line = text.slice(0, offset).split('\n').length;
  return { ...conflictFault, file, line, column: 1 };
}

function tooManyNodes(file: string): Problem {
  const message = `The file contains more than ${limits.fileNodes} values; split it.`;
  return { code: 'file_too_large', message, file, line: 1, column: 1 };
}

/** Lexeme that announces a scalar without quotes. */
const scalarMark = '\u001f';
const collections: ReadonlySet<string> = new Set(['[', '{', '-', '---']);

/**
 * Returns whether a text contains more values than `most`, without creating them: the parser needs at least 500 bytes
 * for each value. Never counts more values than there are, so that no readable text is refused.
 */
export function hasMoreValuesThan(text: string, most: number): boolean {
  // Each value takes at least one character.
  if (text.length <= most) return false;
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const first = lexeme[0];
    if (first === scalarMark || first === '"' || first === "'" || collections.has(lexeme)) count += 1;
    if (count > most) return true;
  }
  return false;
}
