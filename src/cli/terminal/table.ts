import type { Paint } from './paint.ts';

/** A row of a table, with optional lines below it. */
export interface TableRow {
  readonly cells: readonly string[];
  /** Lines below the row, indented. */
  readonly below?: readonly string[];
}

/**
 * Returns the lines of a table. Each column is as wide as its widest cell. Without headings, there is no heading line.
 */
export function renderTable(headings: readonly string[], rows: readonly TableRow[], paint: Paint): readonly string[] {
  const lines = [headings, ...rows.map(({ cells }) => cells)];
  const columns = Math.max(...lines.map(({ length }) => length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [
    ...(headings.length === 0 ? [] : [paint('strong', line(headings))]),
    ...rows.flatMap(({ cells, below = [] }) => [line(cells), ...below.map((text) => `    ${text}`)]),
  ];
}
