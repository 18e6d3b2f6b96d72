import type { MetricEvent } from '../../commit/observe.ts';
import type { Meters } from './meters.ts';

/** Time at which the declarations of a source were last in place, by account and source. */
export type InPlace = Map<string, { readonly labels: SourceLabels; readonly at: number }>;

/** Sources of different accounts may have the same name, so both labels are needed. */
type SourceLabels = { readonly account: string; readonly source: string };

/**
 * Gauges of sources that this server runs. They are removed when another server takes over a source, because they would
 * keep their last value.
 */
const sourceGauges = [
  'heddle_config_source_age_seconds',
  'heddle_config_drift_units',
  'heddle_config_breaker_open',
] as const;

/** Updates the metrics for an observation. */
export function record(meters: Meters, inPlace: InPlace, observation: MetricEvent): void {
  switch (observation.what) {
    case 'guard':
      meters.count('heddle_config_plan_guard_trips_total', { guard: observation.guard });
      return;
    case 'lock_wait':
      meters.observe('heddle_config_lock_wait_seconds', observation.seconds);
      return;
    case 'outbound':
      meters.observe('heddle_outbound_seconds', observation.seconds, {
        purpose: observation.purpose,
        outcome: observation.outcome,
      });
      return;
    case 'delivery':
      recordDelivery(meters, observation);
      return;
    case 'delivery_backlog':
      meters.set('heddle_delivery_channels_failing', observation.failing);
      meters.set('heddle_delivery_lag_events', observation.behind);
      return;
    case 'directory_sync':
      meters.observe('heddle_directory_sync_seconds', observation.seconds, { outcome: observation.outcome });
      return;
    case 'directory_syncs_failing':
      meters.set('heddle_directory_syncs_failing', observation.failing);
      return;
    case 'endpoint_sync':
      recordEndpointSync(meters, observation);
      return;
    case 'endpoint_syncs_failing':
      meters.set('heddle_endpoint_syncs_failing', observation.failing);
      return;
    case 'proxy_domain_check':
      meters.count('heddle_proxy_domain_checks_total', { outcome: observation.outcome });
      return;
    case 'proxy_domains_unvalidated':
      meters.set('heddle_proxy_domains_unvalidated', observation.domains);
      return;
    case 'audit_deleted':
      meters.count('heddle_audit_events_deleted_total', {}, observation.events);
      return;
    case 'ingress_peer':
      meters.count('heddle_ingress_peer_changes_total', { state: observation.state });
      return;
    case 'scim':
      recordScim(meters, observation);
      return;
    case 'unreadable':
      // This is logged instead: a number would not show where the secret is.
      return;
    default:
      recordSource(meters, inPlace, observation);
  }
}

function recordScim(
  meters: Meters,
  { resource, method, status }: Extract<MetricEvent, { readonly what: 'scim' }>,
): void {
  meters.count('heddle_scim_requests_total', { resource, method, status });
}

function recordDelivery(
  meters: Meters,
  { type, outcome, events, seconds }: Extract<MetricEvent, { readonly what: 'delivery' }>,
): void {
  meters.observe('heddle_delivery_seconds', seconds, { type, outcome });
  if (outcome === 'accepted') meters.count('heddle_delivery_events_total', { type }, events);
}

function recordEndpointSync(
  meters: Meters,
  { product, outcome, devices, seconds }: Extract<MetricEvent, { readonly what: 'endpoint_sync' }>,
): void {
  meters.observe('heddle_endpoint_sync_seconds', seconds, { product, outcome });
  if (outcome === 'synced') meters.count('heddle_endpoint_sync_devices_total', { product }, devices);
}

function recordSource(meters: Meters, inPlace: InPlace, observation: Extract<MetricEvent, SourceLabels>): void {
  const { account, source } = observation;
  const labels = { account, source };
  switch (observation.what) {
    case 'reconcile':
      meters.observe('heddle_config_reconcile_seconds', observation.seconds, { ...labels, result: observation.result });
      return;
    case 'in_place':
      inPlace.set(`${account}/${source}`, { labels, at: performance.now() });
      meters.set('heddle_config_drift_units', observation.drift, labels);
      return;
    case 'breaker':
      meters.set('heddle_config_breaker_open', observation.open ? 1 : 0, labels);
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
