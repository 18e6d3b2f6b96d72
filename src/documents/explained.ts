import { isMap, isScalar, type Node, parseDocument, type YAMLMap } from 'yaml';
import type { Json } from '../lib/json.ts';

/** A member of a settings file, with the comment above it. */
export interface ExplainedMember {
  readonly path: readonly string[];
  /**
   * Last paragraph of the comment, without its indented lines, which show examples of values. Absent when there is no
   * comment.
   */
  readonly comment?: string;
  /** Absent when the value is a map whose members have comments: these members are listed separately. */
  readonly value?: Json;
}

/**
 * Returns the members of a YAML map in order, including the members of nested maps that have comments. Throws the first
 * parse error.
 */
export function explainedMembers(text: string): readonly ExplainedMember[] {
  const document = parseDocument<Node>(text, { uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  // The cast is safe because comments are read only from maps.
  return isMap(document.contents) ? membersOf(document.contents as YAMLMap<Node, Node>, []) : [];
}

function membersOf(map: YAMLMap<Node, Node>, above: readonly string[]): readonly ExplainedMember[] {
  return map.items.flatMap(({ key, value }, index) => {
    const path = [...above, isScalar(key) ? String(key.value) : ''];
    // The parser stores the comment above the first member on the map.
    const comment = paragraph(key.commentBefore ?? (index === 0 ? map.commentBefore : undefined));
    const member = { path, ...(comment === '' ? {} : { comment }) };
    if (isMap<Node, Node>(value) && hasComments(value)) return [member, ...membersOf(value, path)];
    // Without tags in the file, every node has a JSON value.
    return [{ ...member, value: (value?.toJSON() ?? null) as Json }];
  });
}

function hasComments(map: YAMLMap<Node, Node>): boolean {
  const comments = [map.commentBefore, ...map.items.map(({ key }) => key.commentBefore)];
  return comments.some((comment) => paragraph(comment ?? undefined) !== '');
}

/** Returns the last paragraph of a comment on one line. Text above an empty line is about the whole file. */
function paragraph(comment: string | null | undefined): string {
  const [last = ''] = (comment ?? '').split('\n\n').slice(-1);
  const lines = last.split('\n').filter((line) => !line.startsWith('   '));
  return lines
    .map((line) => line.trim())
    .join(' ')
    .trim();
}
