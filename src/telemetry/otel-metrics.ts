import { type HrTime, ValueType } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { HistogramValue, MetricPoint, MetricSnapshot } from './snapshot.ts';

/** Exporter, interval and source of the metrics to export. */
interface MetricExport {
  readonly exporter: PushMetricExporter;
  readonly resource: Resource;
  readonly version: string;
  readonly read: () => Promise<readonly MetricSnapshot[]>;
  readonly intervalMs: number;
}

/** Exports the metrics of `/metrics` periodically. Returns a function that stops the export. */
export function startMetrics({ exporter, resource, version, read, intervalMs }: MetricExport): () => Promise<void> {
  const begun = hrTime();
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, 30_000),
    metricProducers: [
      {
        async collect() {
          const end = hrTime();
          const metrics = (await read()).flatMap((metric) => metricData(metric, begun, end));
          const scopeMetrics = [{ scope: { name: 'heddle', version }, metrics }];
          return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
        },
      },
    ],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return () => provider.shutdown();
}

function metricData({ name, help, type, points }: MetricSnapshot, startTime: HrTime, endTime: HrTime): MetricData[] {
  if (points.length === 0) return [];
  const descriptor = { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const at = ({ labels }: MetricPoint) => ({ startTime, endTime, attributes: labels });
  if (type === 'histogram') {
    const dataPoints = points.flatMap((point): DataPoint<Histogram>[] =>
      typeof point.value === 'number' ? [] : [{ ...at(point), value: histogramOf(point.value) }],
    );
    return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints }];
  }
  const dataPoints = points.flatMap((point): DataPoint<number>[] =>
    typeof point.value === 'number' ? [{ ...at(point), value: point.value }] : [],
  );
  if (type === 'gauge') return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
  return [{ ...common, dataPointType: DataPointType.SUM, dataPoints, isMonotonic: true }];
}

function histogramOf({ bounds, counts, sum, count }: HistogramValue): Histogram {
  return { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count };
}

function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return name.endsWith('_bytes') ? 'By' : '1';
}

function hrTime(): HrTime {
  const now = Date.now();
  return [Math.floor(now / 1000), (now % 1000) * 1_000_000];
}
