import Fastify, { type FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Engine } from '../commit/engine.ts';
import type { Observation } from '../commit/observe.ts';
import { drainConnections } from './drain.ts';
import { pathOf } from './other-methods.ts';
import { refuseUnknownPaths } from './refusals.ts';

/** What is scraped. */
interface Metrics {
  readonly type: string;
  readonly text: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** What the server counted so far. */
    readMetrics(): Promise<Metrics>;
  }
}

/** One metric as `/metrics` describes it. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds in seconds. */
  readonly buckets?: readonly number[];
}

/** Every metric of the server: what is not here is not exposed, and the dashboard may name nothing else. */
export const metrics = {
  http_request_seconds: {
    type: 'histogram',
    help: 'Time to answer a request.',
    labels: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  config_reconcile_seconds: {
    type: 'histogram',
    help: 'Time of a reconcile of a source, by how it ended.',
    labels: ['account', 'source', 'result'],
    buckets: [0.01, 0.05, 0.2, 1, 5, 20, 60],
  },
  config_ops_total: {
    type: 'counter',
    help: 'Changes of objects that were committed.',
    labels: ['kind', 'action'],
  },
  config_revisions_total: { type: 'counter', help: 'Revisions that this server made.', labels: [] },
  config_drift_units: {
    type: 'gauge',
    help: 'Units whose value is not the one that a source declares.',
    labels: ['account', 'source'],
  },
  config_lock_wait_seconds: {
    type: 'histogram',
    help: 'Time that a commit waited for others of its account.',
    labels: [],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  config_source_age_seconds: {
    type: 'gauge',
    help: 'Time since what a source declares was applied or found to be in place.',
    labels: ['account', 'source'],
  },
  config_breaker_open: {
    type: 'gauge',
    help: 'Whether a source is stopped because two writers undo each other (1) or not (0).',
    labels: ['account', 'source'],
  },
  config_plan_guard_trips_total: {
    type: 'counter',
    help: 'Plans that a guard stopped until they are approved.',
    labels: ['guard'],
  },
  outbound_seconds: {
    type: 'histogram',
    help: 'Time of a request or a connection to another host, by what it was for and how it ended.',
    labels: ['purpose', 'outcome'],
    buckets: [0.02, 0.1, 0.5, 2, 10, 30],
  },
  delivery_seconds: {
    type: 'histogram',
    help: 'Time of an attempt to deliver events, by the type of the receiver and what came of it.',
    labels: ['type', 'outcome'],
    buckets: [0.02, 0.1, 0.5, 2, 10, 30],
  },
  delivery_events_total: {
    type: 'counter',
    help: 'Events that receivers took from this server.',
    labels: ['type'],
  },
  delivery_channels_failing: {
    type: 'gauge',
    help: 'Channels of all accounts whose last delivery failed and that have events waiting.',
    labels: [],
  },
  delivery_lag_events: {
    type: 'gauge',
    help: 'Events behind the cursor of the channel that is furthest behind.',
    labels: [],
  },
  directory_sync_seconds: {
    type: 'histogram',
    help: 'Time of a sync of users and groups with a directory, by what came of it.',
    labels: ['outcome'],
    buckets: [0.1, 0.5, 2, 10, 30, 120, 600],
  },
  directory_syncs_failing: {
    type: 'gauge',
    help: 'Directories of all accounts whose last sync failed.',
    labels: [],
  },
  endpoint_sync_seconds: {
    type: 'histogram',
    help: 'Time of asking a product of endpoint security about all its devices, by the product and what came of it.',
    labels: ['product', 'outcome'],
    buckets: [0.1, 0.5, 2, 10, 30, 120, 600],
  },
  endpoint_sync_devices_total: {
    type: 'counter',
    help: 'Devices that products of endpoint security listed in complete syncs of this server.',
    labels: ['product'],
  },
  endpoint_syncs_failing: {
    type: 'gauge',
    help: 'Endpoint-security integrations of all accounts whose last sync failed or waits for an approval.',
    labels: [],
  },
  ingress_peer_changes_total: {
    type: 'counter',
    help: 'Ingress peers that went offline or came back, as this server was the first to note.',
    labels: ['state'],
  },
  scim_requests_total: {
    type: 'counter',
    help: 'Requests of identity providers by SCIM, by what they are about and how they were answered.',
    labels: ['resource', 'method', 'status'],
  },
  process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory.', labels: [] },
} as const satisfies Readonly<Record<string, Metric>>;

/** Counts what the server does, for Prometheus. */
export function addMetrics(app: FastifyInstance, engine: Engine): void {
  const meters = createMeters();
  engine.listeners.add(({ plan }) => {
    meters.count('config_revisions_total');
    for (const { action, before, after } of plan.changes)
      meters.count('config_ops_total', { kind: after?.kind ?? before?.kind ?? '', action });
  });
  const inPlace: InPlace = new Map();
  engine.observer.on((observation) => record(meters, inPlace, observation));
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      route: pathOf(request) ?? 'unknown',
      status: reply.statusCode,
    };
    meters.observe('http_request_seconds', reply.elapsedTime / 1000, labels);
  });
  const read = async (): Promise<Metrics> => {
    meters.set('process_resident_memory_bytes', process.memoryUsage.rss());
    for (const { labels, at } of inPlace.values())
      meters.set('config_source_age_seconds', (performance.now() - at) / 1000, labels);
    return { type: meters.contentType, text: await meters.text() };
  };
  app.decorate('readMetrics', read);
}

/** A listener of its own for metrics, for networks in which only the one who scrapes reaches it: it asks for no token. */
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

/** By account and source, when what a source states was last in place. */
type InPlace = Map<string, { readonly labels: SourceLabels; readonly at: number }>;

/** Sources of different accounts may have one name. */
type SourceLabels = { readonly account: string; readonly source: string };

/** What is known of a source that this server runs, and of no other: it would stay as it was when another takes over. */
const sourceGauges = ['config_source_age_seconds', 'config_drift_units', 'config_breaker_open'] as const;

/** Takes an observation down. */
function record(meters: Meters, inPlace: InPlace, observation: Observation): void {
  switch (observation.what) {
    case 'guard':
      meters.count('config_plan_guard_trips_total', { guard: observation.guard });
      return;
    case 'lock_wait':
      meters.observe('config_lock_wait_seconds', observation.seconds);
      return;
    case 'outbound':
      meters.observe('outbound_seconds', observation.seconds, {
        purpose: observation.purpose,
        outcome: observation.outcome,
      });
      return;
    case 'delivery':
      recordDelivery(meters, observation);
      return;
    case 'delivery_backlog':
      meters.set('delivery_channels_failing', observation.failing);
      meters.set('delivery_lag_events', observation.behind);
      return;
    case 'directory_sync':
      meters.observe('directory_sync_seconds', observation.seconds, { outcome: observation.outcome });
      return;
    case 'directory_syncs_failing':
      meters.set('directory_syncs_failing', observation.failing);
      return;
    case 'endpoint_sync':
      recordEndpointSync(meters, observation);
      return;
    case 'endpoint_syncs_failing':
      meters.set('endpoint_syncs_failing', observation.failing);
      return;
    case 'ingress_peer':
      meters.count('ingress_peer_changes_total', { state: observation.state });
      return;
    case 'scim':
      recordScim(meters, observation);
      return;
    case 'unreadable':
      // It is logged; a number would not say where.
      return;
    default:
      recordSource(meters, inPlace, observation);
  }
}

function recordScim(
  meters: Meters,
  { resource, method, status }: Extract<Observation, { readonly what: 'scim' }>,
): void {
  meters.count('scim_requests_total', { resource, method, status });
}

function recordDelivery(
  meters: Meters,
  { type, outcome, events, seconds }: Extract<Observation, { readonly what: 'delivery' }>,
): void {
  meters.observe('delivery_seconds', seconds, { type, outcome });
  if (outcome === 'accepted') meters.count('delivery_events_total', { type }, events);
}

function recordEndpointSync(
  meters: Meters,
  { product, outcome, devices, seconds }: Extract<Observation, { readonly what: 'endpoint_sync' }>,
): void {
  meters.observe('endpoint_sync_seconds', seconds, { product, outcome });
  if (outcome === 'synced') meters.count('endpoint_sync_devices_total', { product }, devices);
}

function recordSource(meters: Meters, inPlace: InPlace, observation: Extract<Observation, SourceLabels>): void {
  const { account, source } = observation;
  const labels = { account, source };
  switch (observation.what) {
    case 'reconcile':
      meters.observe('config_reconcile_seconds', observation.seconds, { ...labels, result: observation.result });
      return;
    case 'in_place':
      inPlace.set(`${account}/${source}`, { labels, at: performance.now() });
      meters.set('config_drift_units', observation.drift, labels);
      return;
    case 'breaker':
      meters.set('config_breaker_open', observation.open ? 1 : 0, labels);
      return;
    case 'left':
      inPlace.delete(`${account}/${source}`);
      for (const name of sourceGauges) meters.forget(name, labels);
      return;
    default:
      unreachable(observation);
  }
}

function unreachable(observation: never): never {
  throw new Error(`no such observation: ${JSON.stringify(observation)}`);
}

type Meters = ReturnType<typeof createMeters>;
type Labels = Readonly<Record<string, string | number>>;
type NameOf<T extends Metric['type']> = {
  [K in keyof typeof metrics]: (typeof metrics)[K]['type'] extends T ? K : never;
}[keyof typeof metrics];

/** The metrics of one server, by name. */
function createMeters() {
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
