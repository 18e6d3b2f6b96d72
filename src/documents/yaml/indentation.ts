/** A line whose indentation fits nothing around it. */
export interface Misindented {
  readonly offset: number;
  readonly indent: number;
  /** How far the line above it is indented to which it seems to belong. */
  readonly expected: number;
}

/** How much of a text is looked at: it is one document, and enough of a longer one. */
const longest = 20_000;

/**
 * The line near a place, in block style, that is indented neither like the lines around it nor below one that opens
 * something. A guess that words a fault; whether there is one, the parser has said.
 */
export function findMisindented(text: string, near: number): Misindented | undefined {
  const start = Math.max(0, near - longest);
  const begin = Math.max(start === 0 ? 0 : text.indexOf('\n', start) + 1, text.lastIndexOf('\n---', near) + 1);
  let open: number[] = [];
  let opener = true;
  let at = begin;
  for (const line of text.slice(begin, near + 1000).split('\n')) {
    const content = line.trim();
    const indent = line.length - line.trimStart().length;
    const isStructure = content !== '' && !content.startsWith('#') && !content.startsWith('---');
    if (isStructure) {
      const top = open.at(-1) ?? 0;
      const above = open.filter((one) => one <= indent);
      if (indent > top && !opener) return { offset: at + indent, indent, expected: top };
      if (indent < top && above.at(-1) !== indent)
        return { offset: at + indent, indent, expected: closest(open, indent) };
      // What follows is written in another style, whose lines may be indented as anybody likes.
      if (/[|>][+-]?\d?$|^[^#]*[[{"'](?:[^\]}"']*)$/.test(content)) return undefined;
      open = [...above.filter((one) => one !== indent), indent, ...itemsOf(content, indent)];
      opener = /:(?:\s+#.*)?$|^-$/.test(content);
    }
    at += line.length + 1;
  }
  return undefined;
}

/** The map that begins behind the dash of an item is indented further than the dash. */
function itemsOf(content: string, indent: number): readonly number[] {
  const [dash] = /^-\s+/.exec(content) ?? [];
  return dash === undefined ? [] : [indent + dash.length, ...itemsOf(content.slice(dash.length), indent + dash.length)];
}

function closest(open: readonly number[], indent: number): number {
  return open.reduce((best, one) => (Math.abs(one - indent) <= Math.abs(best - indent) ? one : best), open[0] ?? 0);
}
