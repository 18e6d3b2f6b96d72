import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricPoint, MetricSnapshot } from '../../telemetry/snapshot.ts';
import { type Metric, metrics } from './declared.ts';

/** Metrics of one server, with their values. */
export type Meters = ReturnType<typeof createMeters>;
type Labels = Readonly<Record<string, string | number>>;
type NameOf<T extends Metric['type']> = {
  [K in keyof typeof metrics]: (typeof metrics)[K]['type'] extends T ? K : never;
}[keyof typeof metrics];

/** Creates the metrics of one server. */
export function createMeters() {
  const registry = new Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  for (const [name, metric] of Object.entries<Metric>(metrics)) {
    const options = { name, help: metric.help, labelNames: [...metric.labels], registers: [registry] };
    if (metric.type === 'counter') counters.set(name, new Counter(options));
    else if (metric.type === 'gauge') gauges.set(name, new Gauge(options));
    else histograms.set(name, new Histogram({ ...options, buckets: [...(metric.buckets ?? [])] }));
  }
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    snapshot: () => snapshotOf(registry),
    count: (name: NameOf<'counter'>, labels: Labels = {}, by = 1) => counters.get(name)?.inc(labels, by),
    set: (name: NameOf<'gauge'>, value: number, labels: Labels = {}) => gauges.get(name)?.set(labels, value),
    forget: (name: NameOf<'gauge'>, labels: Labels) => gauges.get(name)?.remove(labels),
    observe: (name: NameOf<'histogram'>, seconds: number, labels: Labels = {}) =>
      histograms.get(name)?.observe(labels, seconds),
  };
}

/** Returns the current values of a registry. */
async function snapshotOf(registry: Registry): Promise<readonly MetricSnapshot[]> {
  const counted = await registry.getMetricsAsJSON();
  return Object.entries<Metric>(metrics).flatMap(([name, { type, help }]) => {
    const found = counted.find((metric) => metric.name === name);
    if (found === undefined) return [];
    // The rows of a histogram are its buckets, sum and count. `metricName` and `le` distinguish them.
    const rows = found.values as readonly Row[];
    return [{ name, help, type, points: type === 'histogram' ? histogramPoints(name, rows) : plainPoints(rows) }];
  });
}

interface Row {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

function plainPoints(rows: readonly Row[]): readonly MetricPoint[] {
  return rows.map(({ labels, value }) => ({ labels: textsOf(labels), value }));
}

function histogramPoints(name: string, rows: readonly Row[]): readonly MetricPoint[] {
  const series = new Map<string, Row[]>();
  for (const row of rows) {
    const { le: _, ...labels } = row.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), row]);
  }
  return [...series.values()].map((rowsOfOne) => {
    const { le: _, ...labels } = rowsOfOne[0]?.labels ?? {};
    const partOf = (part: string) => rowsOfOne.find(({ metricName }) => metricName === `${name}_${part}`)?.value ?? 0;
    const buckets = rowsOfOne.filter(({ metricName }) => metricName === `${name}_bucket`);
    // The buckets of Prometheus are cumulative.
    const counts = buckets.map(({ value }, at) => value - (buckets[at - 1]?.value ?? 0));
    const bounds = buckets.flatMap(({ labels: { le } }) => (le === '+Inf' ? [] : [Number(le)]));
    return { labels: textsOf(labels), value: { bounds, counts, sum: partOf('sum'), count: partOf('count') } };
  });
}

function textsOf(labels: Row['labels']): MetricPoint['labels'] {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [label, String(value)]));
}
