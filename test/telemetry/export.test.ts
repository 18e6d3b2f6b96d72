import { expect, it, onTestFinished, vi } from 'vitest';
import { metrics } from '../../src/api/metrics/declared.ts';
import { InvalidInput } from '../../src/model/errors.ts';
import { startTelemetry } from '../../src/telemetry/otel.ts';
import { tracedRoot } from '../../src/telemetry/span.ts';
import { asOperator, testApi } from '../api/setup.ts';
import { attributeOf, settingsFor, startCollector } from './collector.ts';

const silent = () => undefined;

it('metrics are exported as /metrics returns them, with the resource attributes from the environment', async () => {
  vi.stubEnv('OTEL_SERVICE_NAME', 'mesh');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=prod');
  onTestFinished(() => void vi.unstubAllEnvs());
  const collector = await startCollector();
  const telemetry = await startTelemetry({ settings: settingsFor(collector.url), version: '1.2.3', report: silent });
  await using api = await testApi('postgres', { tracer: telemetry.tracer });
  await api.group('counted');
  telemetry.exportMetrics(() => api.app.snapshotMetrics());
  const found = (name: string) => collector.metrics().find((metric) => metric.name === name);
  await expect.poll(() => found('heddle_config_ops_total')?.sum?.dataPoints.length).toBeGreaterThan(0);
  await telemetry.stop();
  const names = new Set(collector.metrics().map(({ name }) => name));
  expect([...names].filter((name) => !(name in metrics))).toEqual([]);
  expect(found('heddle_config_revisions_total')?.sum).toMatchObject({ isMonotonic: true });
  expect(found('heddle_build_info')?.gauge?.dataPoints).toHaveLength(1);
  const times = found('heddle_http_request_seconds')?.histogram?.dataPoints ?? [];
  expect(times.length).toBeGreaterThan(0);
  for (const { count, bucketCounts } of times) {
    expect(bucketCounts).toHaveLength(metrics.heddle_http_request_seconds.buckets.length + 1);
    expect(bucketCounts.reduce((sum, one) => sum + Number(one), 0)).toBe(Number(count));
  }
  const resource = collector.bodies.flatMap(({ resourceSpans = [] }) => resourceSpans)[0]?.resource;
  const attribute = (name: string) => resource && attributeOf(resource, name);
  expect(['service.name', 'service.version', 'deployment.environment.name'].map(attribute)).toEqual([
    'mesh',
    '1.2.3',
    'prod',
  ]);
  expect((await api.call('GET', '/metrics', undefined, asOperator)).body).toContain('heddle_config_ops_total');
});

it('spans contain the class of an error, but not its message', async () => {
  const collector = await startCollector();
  const telemetry = await startTelemetry({ settings: settingsFor(collector.url), version: '1', report: silent });
  const work = tracedRoot(telemetry.tracer, 'work', {}, () => Promise.reject(new InvalidInput('the password hunter2')));
  await expect(work).rejects.toThrow('hunter2');
  await telemetry.stop();
  const [span] = collector.spans();
  expect([span?.status.code, span && attributeOf(span, 'error.type')]).toEqual([2, 'InvalidInput']);
  expect(JSON.stringify(collector.bodies)).not.toContain('hunter2');
});

it.each([
  ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00', 0],
  ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', 1],
  ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 1],
  ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' or 1=1", 1],
  ['x'.repeat(5000), 1],
])('a request with the traceparent %j exports %i spans', async (traceparent, count) => {
  const collector = await startCollector();
  const telemetry = await startTelemetry({ settings: settingsFor(collector.url), version: '1', report: silent });
  const span = telemetry.tracer?.begin('request', { kind: 'server', traceparent });
  span?.end();
  await telemetry.stop();
  expect(collector.spans()).toHaveLength(count);
  expect(collector.spans().every(({ parentSpanId = '' }) => parentSpanId === '')).toBe(true);
});
