import { isMap, isScalar, isSeq, type Pair } from 'yaml';
import type { ParsedYaml, YamlNode } from './yaml/yaml.ts';

/** A position in a text, 1-based. `source` is the literal text of a scalar, such as `1.10`. */
export interface Position {
  readonly line: number;
  readonly column: number;
  readonly source?: string;
}

/** Appends one step to a JSON pointer, with the necessary escapes. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the line and column of an offset. */
export function positionAt(parsed: ParsedYaml, offset: number): Position {
  if (parsed.text === '') return { line: 1, column: 1 };
  const { line, col } = parsed.lines.linePos(offset);
  return { line, column: col };
}

/** Returns the position of a JSON pointer in a YAML document, or the position of its nearest existing ancestor. */
export function positionOf(parsed: ParsedYaml, root: YamlNode | null, pointer: string): Position {
  let found: Found = { node: root, key: null };
  for (const step of parsePointer(pointer)) {
    const next = follow(found.node, step);
    if (next === undefined) return positionOfFound(parsed, { ...found, ancestor: true });
    found = next;
  }
  return positionOfFound(parsed, found);
}

interface Found {
  readonly node: YamlNode | null;
  /** Key of the node, when the node is a member of a map. */
  readonly key: YamlNode | null;
  readonly ancestor?: boolean;
}

function parsePointer(pointer: string): readonly string[] {
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

/** Returns the first pair of each key. Cached, because one map may have 100,000 members and 1,000 problems. */
function pairsOf(map: { readonly items: readonly unknown[] }): ReadonlyMap<string, ParsedPair> {
  const known = pairsByKey.get(map);
  if (known !== undefined) return known;
  const pairs = new Map<string, ParsedPair>();
  // The parser types the pairs of a parsed map as pairs of parsed nodes; `isMap` widens that type.
  for (const pair of map.items as readonly ParsedPair[]) {
    const key = isScalar(pair.key) ? String(pair.key.value) : undefined;
    if (key !== undefined && !pairs.has(key)) pairs.set(key, pair);
  }
  pairsByKey.set(map, pairs);
  return pairs;
}

/**
 * Returns the position of a scalar, or of the key when the value is a map, a list or absent: users look at that line.
 */
function positionOfFound(parsed: ParsedYaml, { node, key, ancestor }: Found): Position {
  if (isScalar(node)) {
    const [start, end] = node.range;
    const source = parsed.text.slice(start, end);
    if (source !== '') return { ...positionAt(parsed, start), ...(ancestor ? {} : { source }) };
  }
  return positionAt(parsed, (key ?? node)?.range[0] ?? 0);
}
