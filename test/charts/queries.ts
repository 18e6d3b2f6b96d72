import { parser } from '@prometheus-io/lezer-promql';
import { type Metric, metrics } from '../../src/api/metrics/declared.ts';

/** Series that a query reads, with the labels that it uses of them. */
export interface Series {
  readonly name: string;
  readonly labels: readonly string[];
}

/** The series that a query reads, each with the labels that the query uses; throws where it is no query. */
export function seriesIn(query: string): readonly Series[] {
  // What Grafana puts in place of its variables outside of strings.
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

/** A histogram is read by three series. */
export function metricOf(series: string): string {
  return series.replace(/_(?:bucket|count|sum)$/, '');
}

/** What Prometheus itself adds. */
const collected = ['job', 'instance', 'namespace'];

/** The labels of a series; those of its collector included. */
function labelsOf(series: string): readonly string[] | undefined {
  if (series === 'up') return collected;
  const metric: Metric | undefined = (metrics as Readonly<Record<string, Metric>>)[metricOf(series)];
  if (metric === undefined || (metric.type === 'histogram') !== (metricOf(series) !== series)) return undefined;
  return [...metric.labels, ...(series.endsWith('_bucket') ? ['le'] : []), ...collected];
}

/** What is wrong with what a query reads: a series that the server does not expose, a label that it does not have. */
export function seriesFaults({ name, labels }: Series): readonly string[] {
  const known = labelsOf(name);
  if (known === undefined) return [`the server exposes no ${name}`];
  return labels.filter((label) => !known.includes(label)).map((label) => `${name} has no label ${label}`);
}
