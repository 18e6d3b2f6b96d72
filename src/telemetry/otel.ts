import {
  createTraceState,
  type Attributes as OtelAttributes,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { startMetrics } from './otel-metrics.ts';
import type { OtelExport, OtelSettings } from './otel-settings.ts';
import type { MetricSnapshot } from './snapshot.ts';
import type { Attributes, Span, SpanStart, Tracer } from './span.ts';

/** Writes a sentence to the log. */
type ExportReport = (level: 'info' | 'warn', message: string) => void;

/** Settings of the export, version of the server, and access to the log. */
export interface TelemetryOptions {
  readonly settings: OtelSettings;
  readonly version: string;
  /** Called when exports begin to fail, and when they succeed again, with a sentence for the log. */
  readonly report: ExportReport;
}

/** Running export of spans and metrics. */
export interface Telemetry {
  /** Absent: spans are not exported. */
  readonly tracer: Tracer | undefined;
  /** Starts the export of metrics, if it is configured. */
  exportMetrics(read: () => Promise<readonly MetricSnapshot[]>): void;
  /** Exports the remaining spans and metrics within a short time, and stops. */
  stop(): Promise<void>;
}

/** Maximum duration of the last export, in milliseconds. */
const shutdownTimeoutMs = 2000;

/** Starts the export. The server never waits for a collector: what the collector does not accept in time is dropped. */
export async function startTelemetry({ settings, version, report }: TelemetryOptions): Promise<Telemetry> {
  const { traces, metrics } = settings;
  const resource = resourceOf(version);
  const stops: (() => Promise<void>)[] = [];
  const provider = traces === undefined ? undefined : await openTraces(settings, traces, resource, report);
  if (provider !== undefined) stops.push(() => provider.shutdown());
  const exporter = metrics === undefined ? undefined : await metricExporter(metrics);
  return {
    tracer: provider === undefined ? undefined : wrapTracer(provider.getTracer('heddle', version)),
    exportMetrics(read) {
      if (exporter === undefined || metrics === undefined) return;
      const noted = reportExportFailures(exporter, 'metrics', metrics.url, report);
      stops.push(startMetrics({ exporter: noted, resource, version, read, intervalMs: settings.intervalMs }));
    },
    async stop() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, shutdownTimeoutMs);
      });
      await Promise.race([Promise.allSettled(stops.map((stop) => stop())), late]);
      clearTimeout(timer);
    },
  };
}

/** Returns the resource attributes. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override the defaults. */
function resourceOf(version: string): Resource {
  const own = resourceFromAttributes({ 'service.name': 'heddle', 'service.version': version });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

async function openTraces(
  { sampler, ratio, batch }: OtelSettings,
  traces: OtelExport,
  resource: Resource,
  report: ExportReport,
): Promise<TracerProvider> {
  const exporter = reportExportFailures(await traceExporter(traces), 'traces', traces.url, report);
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: batch.delayMs,
    maxQueueSize: batch.queue,
    maxExportBatchSize: batch.size,
  });
  return new TracerProvider({ resource, sampler: samplerOf(sampler, ratio), spanProcessors: [processor] });
}

/** Imported on demand: a server that exports nothing, or in the other protocol, does not load the exporter. */
async function traceExporter({ url, protocol }: OtelExport): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter({ url });
}

async function metricExporter({ url, protocol }: OtelExport): Promise<PushMetricExporter> {
  const { OTLPMetricExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto');
  return new OTLPMetricExporter({ url });
}

function samplerOf(name: OtelSettings['sampler'], ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

function wrapTracer(tracer: OtelTracer): Tracer {
  return {
    begin(name, { kind, attributes = {}, ...caller }) {
      const parent = remoteParent(caller);
      const around = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      return wrapSpan(
        tracer,
        tracer.startSpan(name, { kind: kinds[kind], attributes: definedAttributes(attributes) }, around),
      );
    },
  };
}

function wrapSpan(tracer: OtelTracer, span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    set: (attributes) => void span.setAttributes(definedAttributes(attributes)),
    fail(error) {
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    begin(name, attributes = {}, kind = 'internal') {
      const options = { kind: kinds[kind], attributes: definedAttributes(attributes) };
      return wrapSpan(tracer, tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, span)));
    },
    end: () => span.end(),
  };
}

function definedAttributes(attributes: Attributes): OtelAttributes {
  const entries = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'object' ? [...value] : value] as const],
  );
  return Object.fromEntries(entries);
}

/** Returns the caller's span from the headers of W3C Trace Context. Returns `undefined` when they are malformed. */
function remoteParent({
  traceparent = '',
  tracestate,
}: Pick<SpanStart, 'traceparent' | 'tracestate'>): SpanContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] =
    /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/.exec(traceparent) ?? [];
  const isUnknown = version === undefined || version === 'ff' || (version === '00' && more !== undefined);
  if (isUnknown || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true, ...state };
}

interface Exporter<Items> {
  export(items: Items, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/**
 * Reports once when exports begin to fail, and once when they succeed again. The report names only the host of the
 * endpoint.
 */
function reportExportFailures<Items, E extends Exporter<Items>>(
  exporter: E & Exporter<Items>,
  what: string,
  url: string,
  report: ExportReport,
): E {
  const { host } = new URL(url);
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  const note = (failed: boolean): void => {
    if (failed === isFailing) return;
    isFailing = failed;
    if (failed) report('warn', `${what} cannot be exported to ${host}; they are dropped until that is possible`);
    else report('info', `${what} are exported to ${host} again`);
  };
  exporter.export = (items, done) =>
    send(items, (result) => {
      note(result.code !== 0);
      done(result);
    });
  return exporter;
}
