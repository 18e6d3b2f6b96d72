import { parser } from '@prometheus-io/lezer-promql';
import { type Metric, metrics } from '../../src/api/metrics/declared.ts';

/** A series that a query reads, and the labels that the query uses. */
export interface Series {
  readonly name: string;
  readonly labels: readonly string[];
}

/**
 * Returns the series that a query reads, each with all labels in the query. Throws when the text is not a PromQL query.
 */
export function seriesIn(query: string): readonly Series[] {
  // Grafana replaces these variables, when they are outside of strings, with a duration.
  const text = query.replace(/\$__(?:rate_interval|range)/g, '5m');
  const names: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      if (type.isError) throw new Error(`not a query from ${from} on: ${text}`);
      if (type.name === 'LabelName') labels.push(text.slice(from, to));
      if (type.name === 'Identifier') names.push(text.slice(from, to));
    },
  });
  return names.map((name) => ({ name, labels }));
}

/** Returns the metric that a series belongs to. A histogram has three series. */
export function metricOf(series: string): string {
  return series.replace(/_(?:bucket|count|sum)$/, '');
}

/** Labels that Prometheus adds. */
const collected = ['job', 'instance', 'namespace'];

/**
 * Returns the labels of a series, including those that Prometheus adds. Returns `undefined` when the server does not
 * expose the series.
 */
function labelsOf(series: string): readonly string[] | undefined {
  if (series === 'up') return collected;
  const metric: Metric | undefined = (metrics as Readonly<Record<string, Metric>>)[metricOf(series)];
  if (metric === undefined || (metric.type === 'histogram') !== (metricOf(series) !== series)) return undefined;
  return [...metric.labels, ...(series.endsWith('_bucket') ? ['le'] : []), ...collected];
}

/** Returns the errors in a series that a query reads: the server does not expose it, or it does not have a label. */
export function seriesFaults({ name, labels }: Series): readonly string[] {
  const known = labelsOf(name);
  if (known === undefined) return [`the server exposes no ${name}`];
  return labels.filter((label) => !known.includes(label)).map((label) => `${name} has no label ${label}`);
}
