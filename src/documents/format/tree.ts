import { isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { ParsedYaml, YamlNode } from '../yaml/yaml.ts';
import { isPlainWord, type ScalarText, scalarText } from './scalars.ts';

/** A map or a list as it is written in a text. Lines and columns are 1-based. */
export interface Collection {
  readonly type: 'collection';
  readonly style: 'map' | 'list';
  /** Whether it is written in brackets. */
  readonly flow: boolean;
  readonly entries: readonly Entry[];
  readonly startLine: number;
  readonly endLine: number;
  readonly column: number;
  /** Offset of the first character after it. */
  readonly end: number;
}

/** A member of a map, or an item of a list. */
export interface Entry {
  /** Absent for an item of a list. */
  readonly key?: { readonly name: string; readonly text: string };
  readonly value: ScalarText | Collection;
  readonly start: number;
  readonly startLine: number;
  readonly endLine: number;
}

type ParsedMap = YAMLMap<YamlNode, YamlNode | null>;
type ParsedPair = Pair<YamlNode, YamlNode | null>;
type ParsedList = YAMLSeq<YamlNode>;

/** Returns the tree of a parsed map or list. The text must have been parsed with `keepSourceTokens`. */
export function treeOf(parsed: ParsedYaml, node: ParsedMap | ParsedList): Collection {
  // Every parsed node has a range.
  const [start, end] = node.range as [number, number, number];
  const { line: startLine, col: column } = parsed.lines.linePos(start);
  const flow = node.flow === true;
  const entries = isMap(node) ? node.items.map((pair) => memberOf(parsed, pair)) : itemsOf(parsed, node);
  const endLine = flow ? lineOf(parsed, end - 1) : (entries.at(-1)?.endLine ?? startLine);
  const style = isMap(node) ? 'map' : 'list';
  return { type: 'collection', style, flow, entries, startLine, endLine, column, end };
}

function memberOf(parsed: ParsedYaml, { key, value }: ParsedPair): Entry {
  const name = isScalar(key) ? String(key.value) : '';
  return entryOf(parsed, key.range[0], value, { name, text: keyText(parsed, key, name) });
}

/** Returns the text of a key, without quotes that it does not need. */
function keyText(parsed: ParsedYaml, key: YamlNode, name: string): string {
  if (!isScalar(key) || key.type === 'PLAIN') return name;
  const [text = '', ...others] = scalarText(parsed, key as Scalar.Parsed).lines;
  return others.length === 0 && isPlainWord(name) ? name : text;
}

/**
 * Returns the items of a list. An item begins at its dash, whose offset is only in the tokens; in brackets, it begins
 * at its value.
 */
function itemsOf(parsed: ParsedYaml, list: ParsedList): readonly Entry[] {
  const { srcToken } = list;
  const dashes =
    srcToken?.type === 'block-seq'
      ? srcToken.items.flatMap(({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset ?? [])
      : [];
  return list.items.map((item, at) => entryOf(parsed, dashes[at] ?? item.range[0], item));
}

function entryOf(parsed: ParsedYaml, start: number, node: YamlNode | null, key?: Entry['key']): Entry {
  const startLine = lineOf(parsed, start);
  const value = isMap(node) || isSeq(node) ? treeOf(parsed, node as ParsedMap | ParsedList) : scalarOf(parsed, node);
  const endLine = value.type === 'collection' ? value.endLine : Math.max(startLine, lastLine(parsed, node));
  return { ...(key === undefined ? {} : { key }), value, start, startLine, endLine };
}

function scalarOf(parsed: ParsedYaml, node: YamlNode | null): ScalarText {
  return isScalar(node) ? scalarText(parsed, node as Scalar.Parsed) : { type: 'scalar', lines: [''], block: false };
}

/**
 * Returns the last line of a scalar, or 0 for an absent one. Blank lines after a block scalar belong to it only when
 * its header keeps them (`+`).
 */
function lastLine(parsed: ParsedYaml, node: YamlNode | null): number {
  if (!isScalar(node) || node.source === '') return 0;
  const [start, end] = node.range as [number, number, number];
  const source = parsed.text.slice(start, end);
  const keeps = /^[|>]\d?\+/.test(source);
  const length = keeps ? source.length : source.trimEnd().length;
  return lineOf(parsed, start + Math.max(0, length - 1));
}

function lineOf(parsed: ParsedYaml, offset: number): number {
  return parsed.lines.linePos(offset).line;
}
