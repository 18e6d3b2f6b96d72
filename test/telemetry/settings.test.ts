import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { readOtel } from '../../src/telemetry/otel-settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

describe('the OpenTelemetry variables', () => {
  it.each([
    [{}],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }],
    [{ OTEL_SERVICE_NAME: 'mesh', OTEL_TRACES_SAMPLER: 'always_on' }],
  ])('enable no export: %j', (env) => {
    expect(readOtel(env)).toBeUndefined();
  });

  it('set the endpoints of spans and metrics', () => {
    expect(readOtel(endpoint)).toEqual({
      traces: { url: 'http://collector:4318/v1/traces', protocol: 'http/protobuf' },
      metrics: { url: 'http://collector:4318/v1/metrics', protocol: 'http/protobuf' },
      ...{ sampler: 'parentbased_always_on', ratio: 1, intervalMs: 60_000 },
      batch: { delayMs: 5000, queue: 2048, size: 512 },
    });
    const env = {
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      ...{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
    };
    expect(readOtel(env)).toMatchObject({
      traces: { url: 'http://localhost:4318/v1/traces', protocol: 'http/json' },
      ...{ metrics: undefined, sampler: 'parentbased_traceidratio', ratio: 0.1 },
    });
    expect(readOtel({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://m.example.com/otlp' })).toMatchObject({
      ...{ traces: undefined, metrics: { url: 'https://m.example.com/otlp' } },
    });
  });

  it.each([
    [{ OTEL_TRACES_SAMPLER: 'some' }, 'OTEL_TRACES_SAMPLER is `some`; write always_on, '],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG is `2`; write a number from 0 to 1.'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is `zipkin`; write otlp, none.'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`, which Heddle does not support'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'The OTLP endpoint of traces is not a URL; write one such as'],
    [{ OTEL_METRIC_EXPORT_INTERVAL: 'soon' }, 'OTEL_METRIC_EXPORT_INTERVAL is `soon`; write a number'],
  ])('are refused when invalid, with a suggestion: %j', (env, sentence) => {
    expect(readOtel({ ...endpoint, ...env })).toMatchObject({
      faults: expect.arrayContaining([expect.stringContaining(sentence)]),
    });
  });
});

test('a server that exports no telemetry loads no OpenTelemetry module', () => {
  const loaders = globSync('src/**/*.ts').filter((path) => {
    const imports = readFileSync(path, 'utf8').matchAll(/^(import|export) (?!type )[^;]*? from '([^']+)'/gm);
    return [...imports].some(([, , from = '']) => /@opentelemetry|\/otel(-metrics)?\.ts$/.test(from));
  });
  // `otel-metrics.ts` is loaded by `otel.ts`, which the server imports on demand.
  expect(loaders.sort()).toEqual(['src/telemetry/otel-metrics.ts', 'src/telemetry/otel.ts']);
  expect(readFileSync('src/app/telemetry.ts', 'utf8')).toContain("await import('../telemetry/otel.ts')");
});
