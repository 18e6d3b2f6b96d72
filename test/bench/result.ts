import type { Stand } from './stand.ts';

/** One line of the table: a figure and its reference. */
export interface Row {
  readonly what: string;
  readonly figure: number;
  readonly unit: 'ms' | 's' | '/s' | 'MB' | 'kB' | '';
  /** Figure of the reference in the same run. */
  readonly reference?: number;
  /** Limit of the ratio, or of the figure if there is no reference. Absent: the row is only reported. */
  readonly budget?: { readonly is: 'at most' | 'at least'; readonly value: number };
  readonly note?: string;
}

/** A benchmark, selected by its name on the command line. */
export interface Benchmark {
  readonly name: string;
  /** Whether the benchmark runs only when it is named, because it needs more than others. */
  readonly onlyByName?: boolean;
  run(stand: Stand): Promise<readonly Row[]>;
}

/** Returns the value that is compared with the budget: the ratio, or the figure if there is no reference. */
export function judgedValue({ figure, reference }: Row): number {
  return reference === undefined ? figure : figure / reference;
}

/** Whether the row is within its budget. True when it has none. */
export function isWithin(row: Row): boolean {
  if (row.budget === undefined) return true;
  const { is, value } = row.budget;
  return is === 'at most' ? judgedValue(row) <= value : judgedValue(row) >= value;
}
