/** Declaration of one metric, as `/metrics` describes it. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of the buckets, in seconds. */
  readonly buckets?: readonly number[];
}

/** All metrics of the server. A metric that is not listed here is not exposed, and the dashboard may use no other. */
export const metrics = {
  heddle_http_request_seconds: {
    type: 'histogram',
    help: 'Time to answer a request.',
    labels: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  heddle_config_reconcile_seconds: {
    type: 'histogram',
    help: 'Duration of a reconcile of a source, by result.',
    labels: ['account', 'source', 'result'],
    buckets: [0.01, 0.05, 0.2, 1, 5, 20, 60],
  },
  heddle_config_ops_total: {
    type: 'counter',
    help: 'Changes of objects that were committed.',
    labels: ['kind', 'action'],
  },
  heddle_config_revisions_total: { type: 'counter', help: 'Revisions that this server made.', labels: [] },
  heddle_config_drift_units: {
    type: 'gauge',
    help: 'Units with a value other than the declared one.',
    labels: ['account', 'source'],
  },
  heddle_config_lock_wait_seconds: {
    type: 'histogram',
    help: 'Time that a commit waited for other commits of its account.',
    labels: [],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  heddle_config_source_age_seconds: {
    type: 'gauge',
    help: 'Time since the declarations of a source were last applied or found to be in place.',
    labels: ['account', 'source'],
  },
  heddle_config_breaker_open: {
    type: 'gauge',
    help: 'Whether a source is stopped because two writers undo each other (1) or not (0).',
    labels: ['account', 'source'],
  },
  heddle_config_plan_guard_trips_total: {
    type: 'counter',
    help: 'Plans that a guard stopped until they are approved.',
    labels: ['guard'],
  },
  heddle_outbound_seconds: {
    type: 'histogram',
    help: 'Duration of a request or a connection to another host, by purpose and outcome.',
    labels: ['purpose', 'outcome'],
    buckets: [0.02, 0.1, 0.5, 2, 10, 30],
  },
  heddle_delivery_seconds: {
    type: 'histogram',
    help: 'Duration of an attempt to deliver events, by type of the receiver and outcome.',
    labels: ['type', 'outcome'],
    buckets: [0.02, 0.1, 0.5, 2, 10, 30],
  },
  heddle_delivery_events_total: {
    type: 'counter',
    help: 'Events that receivers accepted from this server.',
    labels: ['type'],
  },
  heddle_delivery_channels_failing: {
    type: 'gauge',
    help: 'Channels of all accounts that have events waiting after a failed delivery.',
    labels: [],
  },
  heddle_delivery_lag_events: {
    type: 'gauge',
    help: 'Events that the channel furthest behind has not processed yet.',
    labels: [],
  },
  heddle_directory_sync_seconds: {
    type: 'histogram',
    help: 'Duration of a sync of users and groups with a directory, by outcome.',
    labels: ['outcome'],
    buckets: [0.1, 0.5, 2, 10, 30, 120, 600],
  },
  heddle_directory_syncs_failing: {
    type: 'gauge',
    help: 'Directories of all accounts with a failed last sync.',
    labels: [],
  },
  heddle_endpoint_sync_seconds: {
    type: 'histogram',
    help: 'Duration of a sync of all devices of an endpoint security product, by product and outcome.',
    labels: ['product', 'outcome'],
    buckets: [0.1, 0.5, 2, 10, 30, 120, 600],
  },
  heddle_endpoint_sync_devices_total: {
    type: 'counter',
    help: 'Devices that endpoint security products listed in complete syncs of this server.',
    labels: ['product'],
  },
  heddle_endpoint_syncs_failing: {
    type: 'gauge',
    help: 'Endpoint-security integrations of all accounts where the last sync failed or waits for an approval.',
    labels: [],
  },
  heddle_proxy_domain_checks_total: {
    type: 'counter',
    help: 'Checks of the DNS records that prove custom domains, by outcome; `unknown` when a name server did not answer.',
    labels: ['outcome'],
  },
  heddle_proxy_domains_unvalidated: {
    type: 'gauge',
    help: 'Custom domains of all accounts that are not validated.',
    labels: [],
  },
  heddle_audit_events_deleted_total: {
    type: 'counter',
    help: 'Audit events that this server deleted because they were older than `HEDDLE_AUDIT_DAYS`.',
    labels: [],
  },
  heddle_ingress_peer_changes_total: {
    type: 'counter',
    help: 'Ingress peers that went offline or came back, counted by the server that noticed it first.',
    labels: ['state'],
  },
  heddle_scim_requests_total: {
    type: 'counter',
    help: 'SCIM requests of identity providers, by resource, method and status.',
    labels: ['resource', 'method', 'status'],
  },
  heddle_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels name the version, the edition, the database (postgres or embedded) and the version of Node.',
    labels: ['version', 'edition', 'database', 'node'],
  },
  heddle_database_connections: {
    type: 'gauge',
    help: 'Connections of the pool to Postgres, by state: busy or idle. The embedded database has none.',
    labels: ['state'],
  },
  heddle_database_connections_max: { type: 'gauge', help: 'Maximum number of connections of the pool.', labels: [] },
  heddle_database_waiting: {
    type: 'gauge',
    help: 'Transactions that wait because all connections of the pool are busy.',
    labels: [],
  },
  heddle_event_loop_delay_seconds: {
    type: 'histogram',
    help: 'Delay of the event loop, during which everything else waits. Sampled every 100 ms.',
    labels: [],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  heddle_event_loop_busy_seconds_total: {
    type: 'counter',
    help: 'Time during which the event loop was busy; 1 second per second is the maximum of one process.',
    labels: [],
  },
  heddle_process_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of all threads of the process.',
    labels: [],
  },
  heddle_process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory.', labels: [] },
} as const satisfies Readonly<Record<string, Metric>>;
