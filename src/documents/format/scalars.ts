import { Scalar } from 'yaml';
import type { ParsedYaml } from '../yaml/yaml.ts';

/** Text of a scalar in canonical form. */
export interface ScalarText {
  readonly type: 'scalar';
  /** The first line (empty when the value is absent) and the lines that continue it, without indentation. */
  readonly lines: readonly string[];
  /** Whether the first line is the header of a block scalar, after which a comment may be appended. */
  readonly block: boolean;
}

/**
 * Returns the text of a parsed scalar in canonical form. One value may have several canonical forms, because block and
 * quoted styles are kept. Comments in the source of the scalar are left out: they are attached to the entry.
 */
export function scalarText({ text }: ParsedYaml, node: Scalar.Parsed): ScalarText {
  const source = text.slice(node.range[0], node.range[1]);
  switch (node.type) {
    case Scalar.BLOCK_FOLDED:
    case Scalar.BLOCK_LITERAL:
      return { type: 'scalar', lines: blockLines(source, parentIndentOf(node)), block: true };
    case Scalar.QUOTE_DOUBLE:
      return flowScalar(continuedLines(source, /^[ \t]+/));
    case Scalar.QUOTE_SINGLE:
      return flowScalar(source.includes('\n') ? continuedLines(source, /^[ \t]+|[ \t]+$/g) : [doubleQuoted(source)]);
    default:
      return flowScalar(plainLines(source, node.value));
  }
}

/** Returns a text, in double quotes when it needs them. */
export function quotedText(value: string): string {
  return isPlainWord(value) ? value : JSON.stringify(value);
}

/**
 * Returns whether every YAML reader takes the text for a string when it has no quotes. Accepts only the characters that
 * are usual in names, although more would be safe.
 */
export function isPlainWord(value: string): boolean {
  return /^[A-Za-z][\w./-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value);
}

/** Returns the indentation of the collection around a scalar, from the token of the scalar. */
function parentIndentOf({ srcToken }: Scalar.Parsed): number {
  return Math.max(0, srcToken?.indent ?? 0);
}

function flowScalar(lines: readonly string[]): ScalarText {
  return { type: 'scalar', lines, block: false };
}

/** Returns the lines of a scalar without quotes. Booleans and null get one spelling; an absent value stays absent. */
function plainLines(source: string, value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [String(value)];
  if (value === null) return [source === '' ? '' : 'null'];
  return continuedLines(source, /^[ \t]+|[ \t]+$/g);
}

/**
 * Splits a scalar into lines, without the spaces around line breaks. YAML reads a break with its spaces as one space,
 * or as one break for each empty line.
 */
function continuedLines(source: string, removed: RegExp): readonly string[] {
  const [first = '', ...others] = source.split('\n');
  return [first, ...others.map((line) => line.replace(removed, ''))];
}

/** Converts single quotes to double quotes, unless the text would then need escapes. */
function doubleQuoted(source: string): string {
  const inside = source.slice(1, -1);
  return /["\\]/.test(inside) ? source : `"${inside.replaceAll("''", "'")}"`;
}

/**
 * Returns the lines of a block scalar. The header states the indentation (two spaces) only when the text itself begins
 * with white space.
 */
function blockLines(source: string, parentIndent: number): readonly string[] {
  const [header = '', ...body] = source.replace(/\n$/, '').split('\n');
  const [, style = '|', flags = ''] = /^([|>])([-+0-9]*)/.exec(header) ?? [];
  const [chomping = ''] = /[-+]/.exec(flags) ?? [];
  const kept = chomping === '+' ? body : withoutLastBlanks(body);
  const first = kept.findIndex((line) => line.trim() !== '');
  const [stated] = /\d/.exec(flags) ?? [];
  const indent = stated === undefined ? indentOf(kept[first] ?? '') : parentIndent + Number(stated);
  const lines = kept.map((line) => line.slice(indent));
  const isStated = lines.slice(0, first < 0 ? lines.length : first + 1).some((line) => /^[ \t]/.test(line));
  return [`${style}${isStated ? '2' : ''}${chomping}`, ...lines];
}

function indentOf(line: string): number {
  return line.length - line.replace(/^ +/, '').length;
}

function withoutLastBlanks(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}
