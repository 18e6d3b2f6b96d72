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

/**
 * Judgement of a row by its budget. `near`: a ratio of times or rates misses the budget by at most `tolerance`, which is
 * not certain to be the fault of the program.
 */
export type Verdict = 'ok' | 'near' | 'over' | 'reported';

/**
 * Factor by which a ratio of the same commit differs between two runs on a shared machine. In six runs within an hour, a
 * single write took 2.46 to 3.24 times as long as a transaction, and reads had 0.77 to 1.02 of the rate of a handler.
 */
const tolerance = 1.3;

/** Judges a row. Only ratios have a tolerance: counts do not vary between runs, and absolute limits include it. */
export function verdictOf(row: Row): Verdict {
  if (row.budget === undefined) return 'reported';
  const { is, value } = row.budget;
  const judged = judgedValue(row);
  if (is === 'at most' ? judged <= value : judged >= value) return 'ok';
  const excess = is === 'at most' ? judged / value : value / judged;
  return excess <= tolerance && row.reference !== undefined ? 'near' : 'over';
}
