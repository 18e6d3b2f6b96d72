import type { Stand } from './stand.ts';

/** One line of the table: a figure, and what it is measured against. */
export interface Row {
  readonly what: string;
  readonly figure: number;
  readonly unit: 'ms' | 's' | '/s' | 'MB' | 'kB' | '';
  /** The same measured for the reference, in this run. */
  readonly reference?: number;
  /** What the ratio may be, or the figure itself where there is no reference; absent: only reported. */
  readonly budget?: { readonly is: 'at most' | 'at least'; readonly value: number };
  readonly note?: string;
}

/** Something to measure, known by its name on the command line. */
export interface Benchmark {
  readonly name: string;
  /** It needs more than others, so that it runs only when it is named. */
  readonly onlyByName?: boolean;
  run(stand: Stand): Promise<readonly Row[]>;
}

/** What is judged: the ratio, or the figure where there is no reference. */
export function judgedValue({ figure, reference }: Row): number {
  return reference === undefined ? figure : figure / reference;
}

/** Whether the row keeps its budget; a row without one does. */
export function isWithin(row: Row): boolean {
  if (row.budget === undefined) return true;
  const { is, value } = row.budget;
  return is === 'at most' ? judgedValue(row) <= value : judgedValue(row) >= value;
}
