import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Engine } from '../engine/engine.ts';

/** Counts what the server does, for Prometheus; answers `GET /metrics`. */
export function addMetrics(app: FastifyInstance, engine: Engine, open: boolean): void {
  const registry = new Registry();
  const requests = new Histogram({
    name: 'http_request_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers: [registry],
  });
  const operations = new Counter({
    name: 'config_ops_total',
    help: 'Changes of objects that were committed.',
    labelNames: ['kind', 'action'],
    registers: [registry],
  });
  const revisions = new Counter({
    name: 'config_revisions_total',
    help: 'Revisions that this server made.',
    registers: [registry],
  });
  const memory = new Gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory.', registers: [registry] });

  engine.listeners.add(({ plan }) => {
    revisions.inc();
    for (const { action, before, after } of plan.changes)
      operations.inc({ kind: after?.kind ?? before?.kind ?? '', action });
  });
  app.addHook('onResponse', async (request, reply) => {
    requests.observe(
      { method: request.method, route: request.routeOptions.url ?? 'unknown', status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
  });
  app.get('/metrics', { config: { open } }, async (_request, reply) => {
    memory.set(process.memoryUsage.rss());
    return reply.header('content-type', registry.contentType).send(await registry.metrics());
  });
}
