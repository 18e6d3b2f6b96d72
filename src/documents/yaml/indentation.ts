/** A line whose indentation does not match the lines around it. */
export interface Misindented {
  readonly offset: number;
  readonly indent: number;
  /** Indentation of the line above, to which the line seems to belong, in spaces. */
  readonly expected: number;
}

/**
 * Maximum length of the text before the offset that is examined, in characters. Enough for one document, or for the end
 * of a longer one.
 */
const maxExaminedCharacters = 20_000;

/**
 * Finds the line near an offset, in block style, whose indentation neither matches the lines around it nor follows a
 * line that opens a map or list. A guess that only words the message: the parser has already found that there is a
 * fault.
 */
export function findMisindented(text: string, near: number): Misindented | undefined {
  const start = Math.max(0, near - maxExaminedCharacters);
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
      // A block text, brackets or quotes follow, whose lines may have any indentation.
      if (/[|>][+-]?\d?$/.test(content) || isLeftOpen(content)) return undefined;
      open = [...above.filter((one) => one !== indent), indent, ...itemsOf(content, indent)];
      opener = content === '-' || content.endsWith(':') || withoutComment(content).endsWith(':');
    }
    at += line.length + 1;
  }
  return undefined;
}

// Both functions read a line only a few times. Regular expressions for them take seconds for 20,000 brackets in a line.

/** Whether a bracket or quote of the line is not closed on it. */
function isLeftOpen(content: string): boolean {
  const closed = Math.max(0, ...[']', '}', '"', "'"].map((mark) => content.lastIndexOf(mark)));
  const open = content.slice(closed).search(/[[{"']/);
  return open >= 0 && !content.slice(0, closed + open).includes('#');
}

function withoutComment(content: string): string {
  const comment = content.search(/\s#/);
  return comment < 0 ? content : content.slice(0, comment).trimEnd();
}

/** Returns the indentation of each map that begins behind a dash on this line, which is deeper than the dash. */
function itemsOf(content: string, indent: number): readonly number[] {
  const [dashes = ''] = /^(?:-\s+)+/.exec(content) ?? [];
  return [...dashes.matchAll(/-\s+/g)].map(({ 0: dash, index }) => indent + index + dash.length);
}

function closest(open: readonly number[], indent: number): number {
  return open.reduce((best, one) => (Math.abs(one - indent) <= Math.abs(best - indent) ? one : best), open[0] ?? 0);
}
