import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type OtelSettings, readOtel } from '../../src/telemetry/otel-settings.ts';

type Value = { readonly stringValue?: string; readonly intValue?: number; readonly arrayValue?: { values: Value[] } };
type Attribute = { readonly key: string; readonly value: Value };

/** A span in the JSON format of OTLP. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface Body {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly ReceivedMetric[] }[];
  }[];
}

/** A metric in the JSON format of OTLP. */
export interface ReceivedMetric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly unknown[]; readonly isMonotonic: boolean };
  readonly gauge?: { readonly dataPoints: readonly unknown[] };
  readonly histogram?: {
    readonly dataPoints: readonly { readonly count: number; readonly bucketCounts: readonly number[] }[];
  };
}

/** Returns the value of an attribute as text; the items of a list are separated by commas. */
export function attributeOf({ attributes }: Pick<ReceivedSpan, 'attributes'>, name: string): string | undefined {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value && textOf(value);
}

function textOf({ stringValue, intValue, arrayValue }: Value): string {
  return stringValue ?? arrayValue?.values.map(textOf).join() ?? String(intValue);
}

/** Starts a collector that receives OTLP over HTTP as JSON, and keeps the bodies. */
export async function startCollector() {
  const bodies: Body[] = [];
  const server = createServer(async (request, response) => {
    // Throws for a body that is not JSON, because it is not OTLP either.
    bodies.push((await json(request)) as Body);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    spans: () =>
      bodies
        .flatMap(({ resourceSpans = [] }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans),
    metrics: () =>
      bodies
        .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics),
  };
}

/** Returns settings for a collector at this URL, with short export intervals. */
export function settingsFor(url: string, more: Readonly<Record<string, string>> = {}): OtelSettings {
  const settings = readOtel({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
    ...more,
  });
  if (settings === undefined || 'faults' in settings) throw new Error('these settings are right');
  return settings;
}
