/**
 * Values of a metric at one moment. The buckets of a histogram are not cumulative; the last bucket has no upper bound.
 */
export interface MetricSnapshot {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly points: readonly MetricPoint[];
}

export interface MetricPoint {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number | HistogramValue;
}

export interface HistogramValue {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}
