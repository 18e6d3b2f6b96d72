import { isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Json } from '../../lib/json.ts';
import { limits } from '../limits.ts';
import { pointerTo } from '../position.ts';
import { truncate } from '../truncate.ts';
import { type Fault, keyFault, numberFault, stringFault } from './values.ts';
import type { YamlNode } from './yaml.ts';

/** Called for every refused node, with its JSON pointer and the offset of its text. */
export type ReportFault = (fault: Fault, pointer: string, offset: number) => void;

/** Number of nodes that one file may still contain. Shared by the documents of the file. */
export interface NodeBudget {
  left: number;
}

/** One step of the path to a node. The text of the JSON pointer is built only when a fault is reported. */
interface Path {
  readonly parent: Path | undefined;
  readonly step: string | number;
}

interface Walk {
  readonly report: ReportFault;
  readonly budget: NodeBudget;
}

/**
 * Converts a parsed node to a JSON value and reports everything that a strict document must not contain. Does not use
 * the library's `visit`: with an object of visitors, it calls only the most specific visitor, so that checks in `Node`
 * would never see scalars.
 */
export function walk(root: YamlNode, budget: NodeBudget, report: ReportFault): Json {
  return readNode({ report, budget }, root, undefined, 0);
}

function readNode(walk: Walk, node: YamlNode | null, path: Path | undefined, depth: number): Json {
  walk.budget.left -= 1;
  if (node === null || walk.budget.left < 0) return null;
  checkMarks(walk, node, path);
  if (isScalar(node)) return readScalar(walk, node, path);
  if (isAlias(node)) return null;
  if (depth >= limits.depth) {
    refuse(walk, node, path, {
      code: 'document_too_deep',
      message: `This is nested more than ${limits.depth} levels deep; flatten the document.`,
    });
    return null;
  }
  if (isMap(node)) return readMap(walk, node, path, depth + 1);
  return isSeq(node) ? readList(walk, node, path, depth + 1) : null;
}

/** Refuses anchors, aliases and tags, because they make a text mean something else than what is written. */
function checkMarks(walk: Walk, node: YamlNode, path: Path | undefined): void {
  if (isAlias(node)) {
    const text = truncate(`*${node.source}`);
    const message = `\`${text}\` without quotes is a YAML alias, which is not allowed; to use it as text, quote it: "${text}".`;
    refuse(walk, node, path, { code: 'yaml_alias', message });
    return;
  }
  if (node.anchor !== undefined) {
    const text = truncate(`&${node.anchor}`);
    const message = `\`${text}\` without quotes is a YAML anchor, which is not allowed; write the value out where it is used, or quote it: "${text}".`;
    refuse(walk, node, path, { code: 'yaml_anchor', message });
  }
  if (node.tag !== undefined) {
    const message = `The YAML tag \`${shortTag(node.tag)}\` is not allowed; remove it, and quote the value if it is a text.`;
    refuse(walk, node, path, { code: 'yaml_tag', message });
  }
}

function shortTag(tag: string): string {
  return truncate(tag.replace(/^tag:yaml\.org,2002:/, '!!'));
}

function readMap(walk: Walk, map: YAMLMap.Parsed, up: Path | undefined, depth: number): Json {
  const value: Record<string, Json> = {};
  const seen = new Set<string>();
  for (const pair of map.items) {
    const key = readKey(walk, pair.key, up, seen);
    const member = readNode(walk, pair.value, { parent: up, step: key ?? '' }, depth);
    if (key !== undefined) value[key] = member;
  }
  return value;
}

/** Returns the text of a key, or `undefined` when the member must be dropped. */
function readKey(walk: Walk, node: YamlNode, up: Path | undefined, seen: Set<string>): string | undefined {
  walk.budget.left -= 1;
  const key = isScalar(node) ? String(node.value) : '';
  const path = { parent: up, step: key };
  checkMarks(walk, node, path);
  if (isAlias(node)) return undefined;
  const fault = keyFault(key, isScalar(node) && node.type === 'PLAIN') ?? repeated(key, seen);
  seen.add(key);
  if (fault === undefined) return key;
  refuse(walk, node, path, fault);
  return undefined;
}

function repeated(key: string, seen: ReadonlySet<string>): Fault | undefined {
  if (!seen.has(key)) return undefined;
  return {
    code: 'key_duplicate',
    message: `The key \`${truncate(key)}\` is written twice in this map; remove one of the two.`,
  };
}

function readList(walk: Walk, list: YAMLSeq.Parsed, up: Path | undefined, depth: number): Json {
  return list.items.map((item, step) => readNode(walk, item, { parent: up, step }, depth));
}

function readScalar(walk: Walk, node: Scalar.Parsed, path: Path | undefined): Json {
  const value: unknown = node.value;
  const fault =
    typeof value === 'string'
      ? stringFault(value)
      : typeof value === 'number'
        ? numberFault(value, node.source)
        : undefined;
  if (fault !== undefined) refuse(walk, node, path, fault);
  // The core schema creates only strings, numbers, booleans and null. Every tag that could create other values is
  // refused.
  return value as Json;
}

function refuse(walk: Walk, node: YamlNode, path: Path | undefined, fault: Fault): void {
  walk.report(fault, pointerOf(path), node.range[0]);
}

function pointerOf(path: Path | undefined): string {
  return path === undefined ? '' : pointerTo(pointerOf(path.parent), path.step);
}
