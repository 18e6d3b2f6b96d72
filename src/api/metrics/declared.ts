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
    help: 'Time of a reconcile of a source, by how it ended.',
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
    help: 'Units whose value is not the one that a source declares.',
    labels: ['account', 'source'],
  },
  heddle_config_lock_wait_seconds: {
    type: 'histogram',
    help: 'Time that a commit waited for others of its account.',
    labels: [],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  heddle_config_source_age_seconds: {
    type: 'gauge',
    help: 'Time since what a source declares was applied or found to be in place.',
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
    help: 'Time of a request or a connection to another host, by what it was for and how it ended.',
    labels: ['purpose', 'outcome'],
    buckets: [0.02, 0.1, 0.5, 2, 10, 30],
  },
  heddle_delivery_seconds: {
    type: 'histogram',
    help: 'Time of an attempt to deliver events, by the type of the receiver and what came of it.',
    labels: ['type', 'outcome'],
    buckets: [0.02, 0.1, 0.5, 2, 10, 30],
  },
  heddle_delivery_events_total: {
    type: 'counter',
    help: 'Events that receivers took from this server.',
    labels: ['type'],
  },
  heddle_delivery_channels_failing: {
    type: 'gauge',
    help: 'Channels of all accounts whose last delivery failed and that have events waiting.',
    labels: [],
  },
  heddle_delivery_lag_events: {
    type: 'gauge',
    help: 'Events behind the cursor of the channel that is furthest behind.',
    labels: [],
  },
  heddle_directory_sync_seconds: {
    type: 'histogram',
    help: 'Time of a sync of users and groups with a directory, by what came of it.',
    labels: ['outcome'],
    buckets: [0.1, 0.5, 2, 10, 30, 120, 600],
  },
  heddle_directory_syncs_failing: {
    type: 'gauge',
    help: 'Directories of all accounts whose last sync failed.',
    labels: [],
  },
  heddle_endpoint_sync_seconds: {
    type: 'histogram',
    help: 'Time of asking a product of endpoint security about all its devices, by the product and what came of it.',
    labels: ['product', 'outcome'],
    buckets: [0.1, 0.5, 2, 10, 30, 120, 600],
  },
  heddle_endpoint_sync_devices_total: {
    type: 'counter',
    help: 'Devices that products of endpoint security listed in complete syncs of this server.',
    labels: ['product'],
  },
  heddle_endpoint_syncs_failing: {
    type: 'gauge',
    help: 'Endpoint-security integrations of all accounts whose last sync failed or waits for an approval.',
    labels: [],
  },
  heddle_proxy_domain_checks_total: {
    type: 'counter',
    help: 'Looks for the records that prove custom domains, by what came of it; `unknown` when a name server did not answer.',
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
    help: 'Ingress peers that went offline or came back, as this server was the first to note.',
    labels: ['state'],
  },
  heddle_scim_requests_total: {
    type: 'counter',
    help: 'Requests of identity providers by SCIM, by what they are about and how they were answered.',
    labels: ['resource', 'method', 'status'],
  },
  heddle_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say what runs: the version, the edition, the database (postgres or embedded) and Node.',
    labels: ['version', 'edition', 'database', 'node'],
  },
  heddle_database_connections: {
    type: 'gauge',
    help: 'Connections of the pool to Postgres, by state: busy or idle. The embedded database has none.',
    labels: ['state'],
  },
  heddle_database_connections_max: { type: 'gauge', help: 'Connections that the pool may have.', labels: [] },
  heddle_database_waiting: {
    type: 'gauge',
    help: 'Transactions that wait for a connection of the pool, which are all busy.',
    labels: [],
  },
  heddle_event_loop_delay_seconds: {
    type: 'histogram',
    help: 'How late the event loop is: for so long everything else waits. Sampled every 100 ms.',
    labels: [],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
  },
  heddle_event_loop_busy_seconds_total: {
    type: 'counter',
    help: 'Time that the event loop was at work; 1 a second is all that one process can do.',
    labels: [],
  },
  heddle_process_cpu_seconds_total: {
    type: 'counter',
    help: 'Processor time of all threads of the process.',
    labels: [],
  },
  heddle_process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory.', labels: [] },
} as const satisfies Readonly<Record<string, Metric>>;
