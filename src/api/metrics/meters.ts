import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Metric, metrics } from './declared.ts';

/** The metrics of one server, which count. */
export type Meters = ReturnType<typeof createMeters>;
type Labels = Readonly<Record<string, string | number>>;
type NameOf<T extends Metric['type']> = {
  [K in keyof typeof metrics]: (typeof metrics)[K]['type'] extends T ? K : never;
}[keyof typeof metrics];

/** Creates the metrics of one server, by name. */
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
    count: (name: NameOf<'counter'>, labels: Labels = {}, by = 1) => counters.get(name)?.inc(labels, by),
    set: (name: NameOf<'gauge'>, value: number, labels: Labels = {}) => gauges.get(name)?.set(labels, value),
    forget: (name: NameOf<'gauge'>, labels: Labels) => gauges.get(name)?.remove(labels),
    observe: (name: NameOf<'histogram'>, seconds: number, labels: Labels = {}) =>
      histograms.get(name)?.observe(labels, seconds),
  };
}
