import { isMap, isScalar, type Node, parseDocument, type YAMLMap } from 'yaml';
import type { Json } from '../lib/json.ts';

/** A member of a file of settings, with the comment in front of it. */
export interface ExplainedMember {
  readonly path: readonly string[];
  /** One paragraph; absent where no comment is. Indented lines of it, which show how a value is written, are left out. */
  readonly comment?: string;
  /** Absent where its own members are explained, and so listed. */
  readonly value?: Json;
}

/** The members of a YAML map in order, those of its maps included as far as comments explain them. */
export function explainedMembers(text: string): readonly ExplainedMember[] {
  const document = parseDocument<Node>(text, { uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  // Only maps are asked for their comments.
  return isMap(document.contents) ? membersOf(document.contents as YAMLMap<Node, Node>, []) : [];
}

function membersOf(map: YAMLMap<Node, Node>, above: readonly string[]): readonly ExplainedMember[] {
  return map.items.flatMap(({ key, value }, index) => {
    const path = [...above, isScalar(key) ? String(key.value) : ''];
    // The comment in front of the first member is that of the map.
    const comment = paragraph(key.commentBefore ?? (index === 0 ? map.commentBefore : undefined));
    const member = { path, ...(comment === '' ? {} : { comment }) };
    if (isMap<Node, Node>(value) && isExplained(value)) return [member, ...membersOf(value, path)];
    // A node of a file without tags is JSON.
    return [{ ...member, value: (value?.toJSON() ?? null) as Json }];
  });
}

function isExplained(map: YAMLMap<Node, Node>): boolean {
  const comments = [map.commentBefore, ...map.items.map(({ key }) => key.commentBefore)];
  return comments.some((comment) => paragraph(comment ?? undefined) !== '');
}

/** What stands above an empty line is about the whole file. */
function paragraph(comment: string | null | undefined): string {
  const [last = ''] = (comment ?? '').split('\n\n').slice(-1);
  const lines = last.split('\n').filter((line) => !line.startsWith('   '));
  return lines
    .map((line) => line.trim())
    .join(' ')
    .trim();
}
