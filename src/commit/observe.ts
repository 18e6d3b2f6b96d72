import type { UnreadableSecret } from '../db/sealing/unreadable.ts';

/** A source of any account. */
export interface ObservedSource {
  readonly account: string;
  readonly source: string;
}

/** An event inside the server that is worth measuring. */
export type MetricEvent =
  /** A source was reconciled, or reconciling failed. `result` is the state of the source, or `failed`. */
  | (ObservedSource & { readonly what: 'reconcile'; readonly result: string; readonly seconds: number })
  /** A source is applied at this moment. `drift` is the number of units that differ nevertheless. */
  | (ObservedSource & { readonly what: 'in_place'; readonly drift: number })
  /** A guard stopped a plan. */
  | { readonly what: 'guard'; readonly guard: string }
  /** A commit waited for other commits of its account. */
  | { readonly what: 'lock_wait'; readonly seconds: number }
  /** A request was sent to another host, or could not be sent. */
  | { readonly what: 'outbound'; readonly purpose: string; readonly outcome: string; readonly seconds: number }
  /** Events were sent to a receiver, or could not be sent. `type` is the type of the receiver. */
  | {
      readonly what: 'delivery';
      readonly type: string;
      readonly outcome: string;
      readonly events: number;
      readonly seconds: number;
    }
  /** Number of failing channels in this database, as far as this server knows. */
  | { readonly what: 'delivery_backlog'; readonly failing: number; readonly behind: number }
  /** A directory was synced, or the sync failed. */
  | { readonly what: 'directory_sync'; readonly outcome: string; readonly seconds: number }
  /** Number of directories in this database that cannot be synced, as far as this server knows. */
  | { readonly what: 'directory_syncs_failing'; readonly failing: number }
  /** The product of an endpoint security integration was queried for all its devices, or the query failed. */
  | {
      readonly what: 'endpoint_sync';
      readonly product: string;
      readonly outcome: 'synced' | 'failed' | 'held';
      readonly devices: number;
      readonly seconds: number;
    }
  /** Number of failing integrations in this database, as far as this server knows. */
  | { readonly what: 'endpoint_syncs_failing'; readonly failing: number }
  /** The records of a custom domain were looked up. */
  | { readonly what: 'proxy_domain_check'; readonly outcome: 'proved' | 'absent' | 'unknown' }
  /** Number of custom domains in this database that are not validated. */
  | { readonly what: 'proxy_domains_unvalidated'; readonly domains: number }
  /** Audit events were deleted because of their age. */
  | { readonly what: 'audit_deleted'; readonly events: number }
  /** An ingress peer went offline, or came back online. */
  | { readonly what: 'ingress_peer'; readonly state: 'offline' | 'online' }
  /**
   * An identity provider sent a SCIM request about users, groups or another resource. `status` is the HTTP status of
   * the answer.
   */
  | { readonly what: 'scim'; readonly resource: string; readonly method: string; readonly status: number }
  /** A stored secret cannot be opened, and stays unchanged when the other secrets are sealed again. */
  | { readonly what: 'unreadable'; readonly secret: UnreadableSecret }
  /** A source that reconciled too often was stopped (`open`), or runs again. */
  | (ObservedSource & { readonly what: 'breaker'; readonly open: boolean })
  /** This server does not run a source any more, so another server reports its state. */
  | (ObservedSource & { readonly what: 'left' });

/** Passes observations to listeners, such as metrics. */
export interface Observer {
  report(observation: MetricEvent): void;
  /** Calls the listener with every later observation. Returns a function that removes it. */
  on(listener: (observation: MetricEvent) => void): () => void;
}

/** Creates an observer that has no listeners yet. */
export function createObserver(): Observer {
  const listeners = new Set<(observation: MetricEvent) => void>();
  return {
    report(observation) {
      for (const listener of listeners) listener(observation);
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
