import { Scalar } from 'yaml';
import type { ParsedYaml } from '../yaml/yaml.ts';

/** How a scalar is written. */
export interface ScalarText {
  readonly type: 'scalar';
  /** The first line, empty where nothing is written, and what continues it, without indentation. */
  readonly lines: readonly string[];
  /** Whether the first line is the header of a block, to which a comment may be appended. */
  readonly block: boolean;
}

/** The text of a parsed scalar in its canonical form: one value may have several, and comments in it belong to the value. */
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

/** A text in quotes, where it needs them. */
export function quotedText(value: string): string {
  return isPlainWord(value) ? value : JSON.stringify(value);
}

/** Whether every reader takes a text without quotes for a text; of many that would do, those that names are made of. */
export function isPlainWord(value: string): boolean {
  return /^[A-Za-z][\w./-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value);
}

/** How far the collection around a scalar is indented, by the token of the scalar. */
function parentIndentOf({ srcToken }: Scalar.Parsed): number {
  return Math.max(0, srcToken?.indent ?? 0);
}

function flowScalar(lines: readonly string[]): ScalarText {
  return { type: 'scalar', lines, block: false };
}

/** The words of the core schema have several spellings; what is not written stays so. */
function plainLines(source: string, value: unknown): readonly string[] {
  if (typeof value === 'boolean') return [String(value)];
  if (value === null) return [source === '' ? '' : 'null'];
  return continuedLines(source, /^[ \t]+|[ \t]+$/g);
}

/** A break and the spaces around it are one space, or as many breaks as there are empty lines. */
function continuedLines(source: string, removed: RegExp): readonly string[] {
  const [first = '', ...others] = source.split('\n');
  return [first, ...others.map((line) => line.replace(removed, ''))];
}

/** Double quotes, unless they would need escapes that single ones do not. */
function doubleQuoted(source: string): string {
  const inside = source.slice(1, -1);
  return /["\\]/.test(inside) ? source : `"${inside.replaceAll("''", "'")}"`;
}

/** The indentation, of two spaces, is stated only where the text itself begins with white space. */
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
