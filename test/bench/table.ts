import { isWithin, judgedValue, type Row } from './result.ts';

const columns = ['what', 'figure', 'reference', 'ratio', 'budget', ''] as const;

/** Formats all rows as one text table. */
export function renderTable(rows: readonly Row[]): string {
  const cells = [columns, ...rows.map(cellsOf)];
  const widths = columns.map((_, at) => Math.max(...cells.map((line) => line[at]?.length ?? 0)));
  const pad = (text: string, at: number) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0));
  return cells.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}

/** Formats all rows as JSON. */
export function renderJson(rows: readonly Row[]): string {
  const judged = rows.map((row) => ({
    ...row,
    ...(row.reference === undefined ? {} : { ratio: judgedValue(row) }),
    ...(row.budget === undefined ? {} : { ok: isWithin(row) }),
  }));
  return `${JSON.stringify({ formatVersion: '1.0', rows: judged }, null, 2)}\n`;
}

function cellsOf(row: Row): readonly string[] {
  const { what, figure, reference, unit, budget, note } = row;
  const ratio = reference === undefined ? '' : judgedValue(row).toFixed(2);
  const factor = reference === undefined ? ` ${unit}` : ' ×';
  const limit = budget === undefined ? '' : `${budget.is === 'at most' ? '≤' : '≥'} ${budget.value}${factor}`;
  const verdict = budget === undefined ? 'reported' : isWithin(row) ? 'ok' : 'over';
  return [
    note === undefined ? what : `${what} (${note})`,
    quantity(figure, unit),
    reference === undefined ? '' : quantity(reference, unit),
    ratio,
    limit.trimEnd(),
    verdict,
  ];
}

function quantity(value: number, unit: string): string {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return `${value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`.trim();
}
