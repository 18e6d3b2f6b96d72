import Fastify, { type FastifyInstance } from 'fastify';
import type { Engine } from '../../commit/engine.ts';
import type { MetricSnapshot } from '../../telemetry/snapshot.ts';
import { drainConnections } from '../drain.ts';
import { pathOf } from '../other-methods.ts';
import { refuseUnknownPaths } from '../refusals.ts';
import { createMeters } from './meters.ts';
import { type Build, watchProcess } from './process.ts';
import { type InPlace, record } from './record.ts';

/** Content type and text of the answer to a scrape. */
interface Metrics {
  readonly type: string;
  readonly text: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the current values in the format of Prometheus. */
    readMetrics(): Promise<Metrics>;
    /** Returns the current values for exporters with another format. */
    snapshotMetrics(): Promise<readonly MetricSnapshot[]>;
  }
}

/** Counts what the server does, and makes `readMetrics` and `snapshotMetrics` available. */
export function addMetrics(app: FastifyInstance, engine: Engine, build: Build): void {
  const meters = createMeters();
  const ownProcess = watchProcess(meters, engine, build);
  app.addHook('onClose', async () => ownProcess.stop());
  engine.listeners.add(({ plan }) => {
    meters.count('heddle_config_revisions_total');
    for (const { action, before, after } of plan.changes)
      meters.count('heddle_config_ops_total', { kind: after?.kind ?? before?.kind ?? '', action });
  });
  const inPlace: InPlace = new Map();
  engine.observer.on((observation) => record(meters, inPlace, observation));
  app.addHook('onResponse', (request, reply, next) => {
    const labels = {
      method: request.method,
      route: pathOf(request) ?? 'unknown',
      status: reply.statusCode,
    };
    meters.observe('heddle_http_request_seconds', reply.elapsedTime / 1000, labels);
    next();
  });
  const note = (): void => {
    ownProcess.note();
    for (const { labels, at } of inPlace.values())
      meters.set('heddle_config_source_age_seconds', (performance.now() - at) / 1000, labels);
  };
  app.decorate('readMetrics', async () => {
    note();
    return { type: meters.contentType, text: await meters.text() };
  });
  app.decorate('snapshotMetrics', async () => {
    note();
    return await meters.snapshot();
  });
}

/**
 * Creates a separate listener for metrics. It requires no token: it is for networks in which only the scraper can reach
 * it.
 */
export function createMetricsServer(app: FastifyInstance): FastifyInstance {
  const own = Fastify({ logger: false, forceCloseConnections: 'idle' });
  drainConnections(own);
  refuseUnknownPaths(own);
  own.get('/metrics', async (_request, reply) => {
    const { type, text } = await app.readMetrics();
    return reply.header('content-type', type).send(text);
  });
  return own;
}
