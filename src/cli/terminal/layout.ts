const width = 100;

/** A row of two columns. */
export type Row = readonly [left: string, right: string];

/**
 * Returns the lines of a table with two columns. The right column is wrapped; a left text that is too long gets a
 * separate line.
 */
export function renderColumns(rows: readonly Row[]): readonly string[] {
  const left = Math.min(28, Math.max(...rows.map(([text]) => text.length)));
  return rows.flatMap(([text, doc]) => {
    const [first = '', ...rest] = wrap(doc, width - left - 4);
    const indented = rest.map((line) => `${' '.repeat(left + 4)}${line}`);
    if (text.length > left) return [`  ${text}`, `${' '.repeat(left + 4)}${first}`, ...indented];
    return [`  ${text.padEnd(left)}  ${first}`, ...indented];
  });
}

/** Breaks a text into lines of at most `most` characters. */
export function wrap(text: string, most: number = width): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > most) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
