import { isMap, isScalar, isSeq, type Pair } from 'yaml';
import type { ParsedYaml, YamlNode } from './yaml/yaml.ts';

/** A place in a text, 1-based; `source` is the literal text of a scalar, such as `1.10`. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly source?: string;
}

/** One step further in a JSON pointer. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Line and column of an offset. */
export function positionAt(parsed: ParsedYaml, offset: number): Position {
  if (parsed.text === '') return { line: 1, column: 1 };
  const { line, col } = parsed.lines.linePos(offset);
  return { line, column: col };
}

/** Where a JSON pointer leads in a YAML document, or where its nearest existing ancestor is. */
export function positionOf(parsed: ParsedYaml, root: YamlNode | null, pointer: string): Position {
  let found: Found = { node: root, key: null };
  for (const step of stepsOf(pointer)) {
    const next = follow(found.node, step);
    if (next === undefined) return positionOfFound(parsed, { ...found, ancestor: true });
    found = next;
  }
  return positionOfFound(parsed, found);
}

interface Found {
  readonly node: YamlNode | null;
  /** The key that holds the node, when it is a member of a map. */
  readonly key: YamlNode | null;
  readonly ancestor?: boolean;
}

function stepsOf(pointer: string): readonly string[] {
  const [, ...steps] = pointer.split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function follow(node: YamlNode | null, step: string): Found | undefined {
  if (isMap(node)) {
    const pair = pairsOf(node).get(step);
    return pair && { node: pair.value, key: pair.key };
  }
  if (!isSeq(node) || !/^\d+$/.test(step)) return undefined;
  const item = node.items[Number(step)];
  return item === undefined ? undefined : { node: item as YamlNode, key: null };
}

type ParsedPair = Pair<YamlNode, YamlNode | null>;

const pairsByKey = new WeakMap<object, ReadonlyMap<string, ParsedPair>>();

/** The first pair of each key. Kept: a thousand problems may stand in one map of a hundred thousand members. */
function pairsOf(map: { readonly items: readonly unknown[] }): ReadonlyMap<string, ParsedPair> {
  const known = pairsByKey.get(map);
  if (known !== undefined) return known;
  const pairs = new Map<string, ParsedPair>();
  // The parser types a parsed map's pairs as holding parsed nodes; `isMap` widens them.
  for (const pair of map.items as readonly ParsedPair[]) {
    const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
    if (key !== undefined && !pairs.has(key)) pairs.set(key, pair);
  }
  pairsByKey.set(map, pairs);
  return pairs;
}

/** A member whose value is a scalar is found at the value; a map, a list or nothing at its key: that is the line people look at. */
function positionOfFound(parsed: ParsedYaml, { node, key, ancestor }: Found): Position {
  if (isScalar(node)) {
    const [start, end] = node.range;
    const source = parsed.text.slice(start, end);
    if (source !== '') return { ...positionAt(parsed, start), ...(ancestor ? {} : { source }) };
  }
  return positionAt(parsed, (key ?? node)?.range[0] ?? 0);
}
