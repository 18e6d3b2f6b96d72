import { createServer, type Server } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startTelemetry } from '../../src/telemetry/otel.ts';
import { testApi } from '../api/setup.ts';
import { settingsFor } from './collector.ts';

/** Returns the URL of a port where nothing listens, or, when `isOpen`, of a server that never answers. */
async function deadEnd(isOpen: boolean): Promise<string> {
  const server: Server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (isOpen) onTestFinished(() => void server.close());
  else await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

it.each([
  ['is away', false],
  ['never answers', true],
])('a collector that %s neither fails nor delays a request or the shutdown', async (_, isOpen) => {
  const reports: string[] = [];
  const settings = settingsFor(await deadEnd(isOpen), { OTEL_BSP_MAX_QUEUE_SIZE: '4' });
  const report = (level: string, message: string) => reports.push(`${level} ${message}`);
  const telemetry = await startTelemetry({ settings, version: '1', report });
  await using api = await testApi('postgres', { tracer: telemetry.tracer });
  telemetry.exportMetrics(() => api.app.snapshotMetrics());
  for (let at = 0; at < 20; at++) expect((await api.call('GET', '/api/groups')).status).toBe(200);
  const begun = performance.now();
  await telemetry.stop();
  expect(performance.now() - begun).toBeLessThan(6000);
  expect(reports.filter((text) => text.startsWith('warn traces')).length).toBeLessThanOrEqual(1);
});
