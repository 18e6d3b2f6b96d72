import { isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Json } from '../../lib/json.ts';
import { limits } from '../limits.ts';
import { pointerTo } from '../position.ts';
import { truncate } from '../truncate.ts';
import { type Fault, keyFault, numberFault, stringFault } from './values.ts';
import type { YamlNode } from './yaml.ts';

/** Called with every refused node: its pointer and where its text begins. */
export type ReportFault = (fault: Fault, pointer: string, offset: number) => void;

/** What one file may still hold; shared by the documents of a file. */
export interface NodeBudget {
  left: number;
}

/** A step of the way to a node; the pointer's text is only built when there is something to report. */
interface Path {
  readonly up: Path | undefined;
  readonly step: string | number;
}

interface Walk {
  readonly report: ReportFault;
  readonly budget: NodeBudget;
}

/**
 * Turns a parsed node into a JSON value and reports everything a strict document must not hold. One walk of our own: the
 * library's `visit` with an object of visitors calls only the most specific one, so that checks in `Node` never see scalars.
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

/** Anchors, aliases and tags, which make a text mean something else than it says. */
function checkMarks(walk: Walk, node: YamlNode, path: Path | undefined): void {
  if (isAlias(node)) {
    const text = truncate(`*${node.source}`);
    const message = `\`${text}\` without quotes is a YAML alias, which is not allowed; if the text is meant, quote it: "${text}".`;
    refuse(walk, node, path, { code: 'yaml_alias', message });
    return;
  }
  if (node.anchor !== undefined) {
    const text = truncate(`&${node.anchor}`);
    const message = `\`${text}\` without quotes is a YAML anchor, which is not allowed; write the value out where it is used, or quote it: "${text}".`;
    refuse(walk, node, path, { code: 'yaml_anchor', message });
  }
  if (node.tag !== undefined) {
    const message = `The YAML tag \`${shortTag(node.tag)}\` is not allowed; remove it, and quote the value if it is meant as text.`;
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
    const member = readNode(walk, pair.value, { up, step: key ?? '' }, depth);
    if (key !== undefined) value[key] = member;
  }
  return value;
}

/** The key's text, or nothing when the member must not be kept. */
function readKey(walk: Walk, node: YamlNode, up: Path | undefined, seen: Set<string>): string | undefined {
  walk.budget.left -= 1;
  const key = isScalar(node) ? String(node.value) : '';
  const path = { up, step: key };
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
  return list.items.map((item, step) => readNode(walk, item, { up, step }, depth));
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
  // The core schema makes strings, numbers, booleans and null only, and every tag that could make more is refused.
  return value as Json;
}

function refuse(walk: Walk, node: YamlNode, path: Path | undefined, fault: Fault): void {
  walk.report(fault, pointerOf(path), node.range[0]);
}

function pointerOf(path: Path | undefined): string {
  return path === undefined ? '' : pointerTo(pointerOf(path.up), path.step);
}
